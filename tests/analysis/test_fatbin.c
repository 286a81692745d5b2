/* Fat binaries: what there is in them, the PTX for a target, and bytes that are damaged. */
#include "tests/tests.h"

#include "analysis/fatbin/fatbin.h"
#include "tests/lift/pack.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

static struct gs_error error;

static const char text[] = "//\n// made by hand\n//\n\n.version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n";

/* A copy of exactly these bytes, so that a sanitizer sees every read beyond them. */
static int read_exact(const void *data, size_t bytes, struct fatbin *out, void **copy)
{
	*copy = malloc(bytes ? bytes : 1);
	memcpy(*copy, data, bytes);
	return fatbin_read(*copy, bytes, out, &error);
}

static void packed_text_is_unpacked(void)
{
	for (enum pack_form form = PACK_PLAIN; form <= PACK_ZSTD; form++) {
		struct gs_buf packed = {0}, ptx = {0};
		struct fatbin f;
		void *copy;
		pack_ptx(text, 75, form, &packed);
		CU_ASSERT_EQUAL_FATAL(read_exact(packed.data, packed.len, &f, &copy), 0);
		CU_ASSERT_EQUAL_FATAL(f.count, 1);
		CU_ASSERT_EQUAL(f.images[0].arch, 75);
		CU_ASSERT_EQUAL(fatbin_unpack(&f.images[0], &ptx, &error), 0);
		CU_ASSERT_STRING_EQUAL(ptx.data, text);
		CU_ASSERT_EQUAL(ptx.len, sizeof text - 1); /* no NUL */
		fatbin_free(&f);
		free(copy);
		gs_buf_free(&ptx);
		gs_buf_free(&packed);
	}
}

/* "abcabcabcabcabcabcabc!": literals abc, then a match of 18 bytes that overlaps itself, then one literal. */
static void matches_of_lz4_repeat(void)
{
	static const uint8_t block[] = {0x3e, 'a', 'b', 'c', 3, 0, 0x10, '!'}, wrong[] = {0x3e, 'a', 'b', 'c', 4, 0, 0x10, '!'};
	struct fatbin_image i = {.kind = FATBIN_PTX, .flags = FATBIN_LZ4, .data = block, .bytes = sizeof block, .plain_bytes = 22};
	struct gs_buf out = {0};
	CU_ASSERT_EQUAL_FATAL(fatbin_unpack(&i, &out, &error), 0);
	CU_ASSERT_STRING_EQUAL(out.data, "abcabcabcabcabcabcabc!");
	i.plain_bytes = 21; /* there is more than it says */
	CU_ASSERT_EQUAL(fatbin_unpack(&i, &out, &error), -EBADMSG);
	i.plain_bytes = 23;
	CU_ASSERT_EQUAL(fatbin_unpack(&i, &out, &error), -EBADMSG);
	i.plain_bytes = 22;
	i.data = wrong; /* a match from before the begin */
	CU_ASSERT_EQUAL(fatbin_unpack(&i, &out, &error), -EBADMSG);
	i.plain_bytes = (size_t)1 << 40;
	CU_ASSERT_EQUAL(fatbin_unpack(&i, &out, &error), -EBADMSG);
	gs_buf_free(&out);
}

struct case_of_choice {
	const char *images; /* "75 90a 100f": PTX; "sm75": machine code */
	uint32_t target;
	const char *chosen; /* "": there is no PTX */
	bool noted;
};

/* Packs the images of a case. The text of an image is "NAME". */
static void pack_case(const char *names, struct gs_buf *out)
{
	struct pack_image images[8];
	char *copy = strdup(names), *rest = copy, *name;
	size_t count = 0;
	while ((name = strsep(&rest, " "))) {
		bool elf = !strncmp(name, "sm", 2);
		char last = name[strlen(name) - 1];
		images[count++] = (struct pack_image){.kind = elf ? FATBIN_ELF : FATBIN_PTX,
		                                      .arch = fatbin_arch(name),
		                                      .flags = last == 'a' ? FATBIN_SPECIFIC : last == 'f' ? FATBIN_FAMILY : 0,
		                                      .form = (enum pack_form)(count % 3),
		                                      .data = name,
		                                      .bytes = strlen(name) + 1};
	}
	pack_fatbin(images, count, out);
	free(copy);
}

static void the_best_text_for_a_target_is_chosen(void)
{
	static const struct case_of_choice cases[] = {
	    {"75 90 52", 90, "90", false},     {"75 90 52", 89, "75", false},      {"75 90 52", 60, "52", false},
	    {"75 90", 35, "75", true},         {"75 90a", 90, "90a", false},       {"75 90a", 100, "75", false},
	    {"90a", 80, "90a", true},          {"90 90a", 90, "90a", false},       {"90a 90", 90, "90a", false},
	    {"75 100f", 103, "100f", false},   {"75 100f", 120, "75", false},      {"sm75 75 sm90", 90, "75", false},
	    {"sm75 sm90 sm75", 80, "", false}, {"sm90", 90, "", false},            {"80 80", 80, "80", false},
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		struct gs_buf packed = {0}, ptx = {0}, note = {0};
		struct fatbin f;
		pack_case(cases[i].images, &packed);
		CU_ASSERT_EQUAL_FATAL(fatbin_read(packed.data, packed.len, &f, &error), 0);
		int result = fatbin_choose(&f, cases[i].target, &ptx, &note, &error);
		CU_ASSERT_EQUAL(result, *cases[i].chosen ? 0 : -ENOENT);
		CU_ASSERT_STRING_EQUAL(ptx.data ? ptx.data : "", cases[i].chosen);
		CU_ASSERT_EQUAL(note.len > 0, cases[i].noted);
		fatbin_free(&f);
		gs_buf_free(&packed);
		gs_buf_free(&ptx);
		gs_buf_free(&note);
	}
}

/* Of the same major architecture, the highest that is not above the target's. */
static void the_machine_code_of_a_target_is_chosen(void)
{
	static const struct case_of_choice cases[] = {
	    {"sm80 75 sm90", 90, "sm90", false},   {"sm80 sm86 sm90", 89, "sm86", false}, {"sm86 80", 80, "", false},   {"sm75 sm90", 80, "", false},
	    {"sm80 sm89 sm86", 89, "sm89", false}, {"sm90a sm90", 90, "sm90a", false},    {"sm100a", 103, "", false}, {"sm100f", 103, "sm100f", false},
	    {"90", 90, "", false},
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		struct gs_buf packed = {0}, code = {0};
		struct fatbin f;
		pack_case(cases[i].images, &packed);
		CU_ASSERT_EQUAL_FATAL(fatbin_read(packed.data, packed.len, &f, &error), 0);
		CU_ASSERT_EQUAL(fatbin_choose_code(&f, cases[i].target, &code, &error), *cases[i].chosen ? 0 : -ENOENT);
		CU_ASSERT_STRING_EQUAL(code.data ? code.data : "", cases[i].chosen);
		fatbin_free(&f);
		gs_buf_free(&packed);
		gs_buf_free(&code);
	}
}

static void without_text_the_error_says_what_there_is(void)
{
	static const struct {
		uint32_t target, advised; /* the highest architecture not above the target's, or the lowest one */
	} cases[] = {{80, 75}, {90, 90}, {100, 90}, {20, 75}};
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		struct gs_buf packed = {0}, ptx = {0}, note = {0};
		char expected[200];
		struct fatbin f;
		pack_case("sm90 sm75 sm90", &packed);
		snprintf(expected, sizeof expected,
		         "the kernels have no PTX, only machine code for sm_75, sm_90: compile them with "
		         "-gencode arch=compute_%u,code=compute_%u as well",
		         cases[i].advised, cases[i].advised);
		CU_ASSERT_EQUAL_FATAL(fatbin_read(packed.data, packed.len, &f, &error), 0);
		CU_ASSERT_EQUAL(fatbin_choose(&f, cases[i].target, &ptx, &note, &error), -ENOENT);
		CU_ASSERT_STRING_EQUAL(error.text, expected);
		fatbin_free(&f);
		gs_buf_free(&packed);
	}
}

/* PTX of sm_90a by its text alone. */
static void a_target_in_the_text_counts(void)
{
	struct gs_buf packed = {0}, ptx = {0}, note = {0};
	struct fatbin f;
	pack_ptx(".version 8.0\n.target sm_90a\n", 90, PACK_PLAIN, &packed);
	pack_ptx(".version 8.0\n.target sm_70\n", 70, PACK_PLAIN, &packed); /* a second container */
	CU_ASSERT_EQUAL_FATAL(fatbin_read(packed.data, packed.len, &f, &error), 0);
	CU_ASSERT_EQUAL(f.count, 2);
	CU_ASSERT_EQUAL(fatbin_choose(&f, 100, &ptx, &note, &error), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(ptx.data, "sm_70"));
	fatbin_free(&f);
	gs_buf_free(&packed);
	gs_buf_free(&ptx);
}

static void text_and_cubins_are_images(void)
{
	struct fatbin f;
	void *copy;
	CU_ASSERT_EQUAL_FATAL(read_exact(text, sizeof text, &f, &copy), 0);
	CU_ASSERT_EQUAL(f.images[0].kind, FATBIN_PTX);
	CU_ASSERT_EQUAL(f.images[0].arch, 75);
	CU_ASSERT_EQUAL(f.images[0].bytes, sizeof text - 1);
	fatbin_free(&f);
	free(copy);
	Elf64_Ehdr h = {.e_ident = ELFMAG, .e_machine = 190, .e_flags = 0x500550};
	h.e_ident[EI_CLASS] = ELFCLASS64;
	CU_ASSERT_EQUAL_FATAL(read_exact(&h, sizeof h, &f, &copy), 0);
	CU_ASSERT_EQUAL(f.images[0].kind, FATBIN_ELF);
	CU_ASSERT_EQUAL(f.images[0].arch, 80);
	fatbin_free(&f);
	free(copy);
	h.e_ident[EI_ABIVERSION] = 8;
	h.e_flags = 0x6005a02;
	CU_ASSERT_EQUAL_FATAL(read_exact(&h, sizeof h, &f, &copy), 0);
	CU_ASSERT_EQUAL(f.images[0].arch, 90);
	fatbin_free(&f);
	free(copy);
}

/* An executable file: header, names of sections, a fat binary, and the table of three sections. */
static void executables_are_searched(void)
{
	static const char names[] = "\0.shstrtab\0.nv_fatbin";
	struct gs_buf file = {0}, packed = {0};
	pack_ptx(text, 75, PACK_ZSTD, &packed);
	gs_buf_add(&packed, "\0\0\0\0\0\0\0\0", 8);
	pack_ptx(text, 80, PACK_LZ4, &packed);
	Elf64_Ehdr h = {.e_ident = ELFMAG, .e_machine = EM_X86_64, .e_shnum = 3, .e_shstrndx = 1, .e_shentsize = sizeof(Elf64_Shdr)};
	h.e_ident[EI_CLASS] = ELFCLASS64;
	h.e_shoff = sizeof h + sizeof names + packed.len;
	Elf64_Shdr sections[3] = {
	    {0},
	    {.sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = sizeof h, .sh_size = sizeof names},
	    {.sh_name = 11, .sh_type = SHT_PROGBITS, .sh_offset = sizeof h + sizeof names, .sh_size = packed.len},
	};
	gs_buf_add(&file, &h, sizeof h);
	gs_buf_add(&file, names, sizeof names);
	gs_buf_add(&file, packed.data, packed.len);
	gs_buf_add(&file, sections, sizeof sections);
	struct fatbin f;
	void *copy;
	CU_ASSERT_EQUAL_FATAL(read_exact(file.data, file.len, &f, &copy), 0);
	CU_ASSERT_EQUAL_FATAL(f.count, 2);
	CU_ASSERT_EQUAL(f.images[1].arch, 80);
	struct fatbin second = fatbin_container(&f, 1);
	CU_ASSERT_TRUE(second.count == 1 && second.images == &f.images[1]);
	CU_ASSERT_EQUAL(fatbin_container(&f, 2).count, 0);
	fatbin_free(&f);
	free(copy);
	for (size_t cut = 0; cut < file.len; cut++) {
		if (!read_exact(file.data, cut, &f, &copy))
			fatbin_free(&f);
		free(copy);
	}
	gs_buf_free(&file);
	gs_buf_free(&packed);
}

static void other_bytes_are_refused(void)
{
	static const char *const others[] = {"", "x", ".versio", "__kernel void f() {}", "// only a comment", "/*"};
	struct fatbin f;
	void *copy;
	for (size_t i = 0; i < GS_ARRAY_LEN(others); i++) {
		CU_ASSERT_EQUAL(read_exact(others[i], strlen(others[i]), &f, &copy), -EINVAL);
		free(copy);
	}
	struct fatbin_header h = {.magic = FATBIN_MAGIC, .version = 1, .header_bytes = sizeof h, .bytes = 1};
	CU_ASSERT_EQUAL(read_exact(&h, sizeof h, &f, &copy), -EBADMSG);
	free(copy);
	CU_ASSERT_EQUAL(fatbin_bytes(&h), 17);
	h.magic++;
	CU_ASSERT_EQUAL(fatbin_bytes(&h), 0);
}

/* Every byte of a fat binary is changed in turn. Whatever that makes of it, nothing may crash. */
static void every_changed_byte_is_survived(void)
{
	struct gs_buf packed = {0};
	pack_case("75 90a sm75 100f", &packed);
	for (size_t at = 0; at < packed.len; at++)
		for (int bit = 0; bit < 8; bit++) {
			struct gs_buf ptx = {0}, note = {0};
			struct fatbin f;
			void *copy;
			packed.data[at] ^= (char)(1 << bit);
			if (!read_exact(packed.data, packed.len, &f, &copy)) {
				fatbin_choose(&f, 90, &ptx, &note, &error);
				fatbin_free(&f);
			}
			packed.data[at] ^= (char)(1 << bit);
			free(copy);
			gs_buf_free(&ptx);
			gs_buf_free(&note);
		}
	gs_buf_free(&packed);
}

void add_fatbin_tests(void)
{
	CU_pSuite suite = CU_add_suite("fatbin", NULL, NULL);
	CU_ADD_TEST(suite, packed_text_is_unpacked);
	CU_ADD_TEST(suite, matches_of_lz4_repeat);
	CU_ADD_TEST(suite, the_best_text_for_a_target_is_chosen);
	CU_ADD_TEST(suite, the_machine_code_of_a_target_is_chosen);
	CU_ADD_TEST(suite, without_text_the_error_says_what_there_is);
	CU_ADD_TEST(suite, a_target_in_the_text_counts);
	CU_ADD_TEST(suite, text_and_cubins_are_images);
	CU_ADD_TEST(suite, executables_are_searched);
	CU_ADD_TEST(suite, other_bytes_are_refused);
	CU_ADD_TEST(suite, every_changed_byte_is_survived);
}
