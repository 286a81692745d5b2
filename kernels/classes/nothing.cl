/* Launches that do nothing: what a launch costs by itself, for every number and size of groups. */
__kernel void nothing(__global int *never)
{
}
