// structures and unions: by value, by pointer, nested, returned, with designators
// run k 8 4
// i = 0..7; make is called three times by each
struct pair { int a, b; };
union both { int i; float f; };
typedef struct { struct pair in[2]; int n, m; } nested;
struct pair make(int a) { struct pair s = {a, .b = a * 2}; return s; } //= entry 24
int first(__private const nested *t, int j) { return t->in[j & 1].a; } //= entry 16
__kernel void k(__global int *p) //= entry 8
{
    int i = get_global_id(0);
    struct pair s = make(i), *q = &s;
    if (q->b > 6) q->a = 0; //= then 4
    union both u = {.i = 0x3f800000};
    s.b += u.f == 1.0f ? make(i).b : p[0]; //= arm 8 arm 0
    nested t = {{{1, 2}, {3, 4}}, .n = 2};
    for (int j = 0; j < t.n; j++) s.a += first(&t, j); //= body 16
    while (t.in[0].a-- && q->b) s.b++; //= right 8 body 7
    p[i] = s.a + s.b + make(i).a + (int)sizeof(union both);
}
