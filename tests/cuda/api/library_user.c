/* Uses library.c. */
int use_library(void);

int main(void)
{
	return use_library();
}
