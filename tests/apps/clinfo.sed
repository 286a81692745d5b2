# what a context of type GPU gets is what gpusim changes where there is no GPU
/clCreateContextFromType\(NULL, CL_DEVICE_TYPE_GPU\)/,/CL_DEVICE_TYPE_ACCELERATOR/{
	/CL_DEVICE_TYPE_ACCELERATOR/!d
}
