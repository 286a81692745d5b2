// goto: forward, backward, out of loops, into a block; a case inside of a loop
// run k 8 8
// backward: 0 + 1 + ... + 7 jumps; the last switch: even i enter above both cases, odd i between; then one more trip
__kernel void k(__global int *p) //= entry 8
{
    int i = get_global_id(0), n = i;
again: //= label 36
    if (n > 0) { //= then 28
        n--;
        goto again;
    }
    p[i] += 1; //= after 8
    for (int j = 0; j < 4; j++) { //= body 26
        if (j == i) goto out; //= then 4
        p[i] += j; //= after 22
    }
    if (i == 6) goto inside; //= after 4 then 1
    if (i > 6) { //= after 3 then 1
        p[i]++;
inside: //= label 2
        p[i] += 2;
    } else p[i] += 3; //= else 2
out: //= label 8
    n = 2;
    switch (i & 1) {
        while (n > 0) { //= body 8
    case 0: p[i] += 4; //= case 12
    case 1: n--; //= case 16
            p[i]++;
        }
    }
    p[i] += n; //= after 8
}
