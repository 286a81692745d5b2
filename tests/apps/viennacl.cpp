// viennacl - vectors and the product of a sparse matrix and a vector by ViennaCL on OpenCL.
#define VIENNACL_WITH_OPENCL
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS

#include <cmath>
#include <cstdio>
#include <map>
#include <vector>

#include <viennacl/compressed_matrix.hpp>
#include <viennacl/linalg/inner_prod.hpp>
#include <viennacl/linalg/prod.hpp>
#include <viennacl/vector.hpp>

int main()
{
	const std::size_t n = 256;
	std::vector<float> x(n), y(n), back(n);
	std::vector<std::map<unsigned int, float>> rows(n);

	for (std::size_t i = 0; i < n; i++) {
		x[i] = float(i % 9);
		y[i] = float(i % 5) - 2.0f;
		rows[i][unsigned(i)] = 4.0f;
		if (i > 0)
			rows[i][unsigned(i - 1)] = -1.0f;
		if (i + 1 < n)
			rows[i][unsigned(i + 1)] = -1.0f;
	}
	viennacl::vector<float> vx(n), vy(n), vz(n);
	viennacl::compressed_matrix<float> a(n, n);
	viennacl::copy(x, vx);
	viennacl::copy(y, vy);
	viennacl::copy(rows, a);
	vz = vx + 2.0f * vy;
	float dot = viennacl::linalg::inner_prod(vz, vy);
	vz = viennacl::linalg::prod(a, vx);
	viennacl::copy(vz, back);

	float want_dot = 0.0f, worst = 0.0f, sum = 0.0f;
	for (std::size_t i = 0; i < n; i++) {
		want_dot += (x[i] + 2.0f * y[i]) * y[i];
		float want = 4.0f * x[i] - (i > 0 ? x[i - 1] : 0.0f) - (i + 1 < n ? x[i + 1] : 0.0f);
		worst = std::fmax(worst, std::fabs(want - back[i]));
		sum += back[i];
	}
	std::printf("dot %.3f, product sum %.3f, worst difference %.6f\n", dot, sum, worst);
	return std::fabs(dot - want_dot) < 1e-3f && worst < 1e-4f ? 0 : 1;
}
