// variables with the names of builtin functions that markers call
// run k 8 4
int f(int get_local_size) { return get_local_size + 1; } //= entry 7
__kernel void k(__global int *p) //= entry 8
{
    int get_local_id = get_global_id(0), get_group_id = 2;
    if (get_local_id & 1) { //= then 4
        float get_local_size = 2, get_num_groups = 1;
        p[get_local_id + 8] = get_local_size * get_num_groups;
        if (get_local_id == 3) return; //= then 1
    }
    for (int get_global_id = 0; get_global_id < get_group_id; get_global_id++) //= after 7
        p[get_local_id]++; //= body 14 next 7
    p[get_local_id] = f(p[get_local_id]);
}
