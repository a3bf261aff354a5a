// SPDX-License-Identifier: GPL-3.0-or-later
// Says what a function is compiled for. Files for both hosts and kernels include this instead of a CUDA
// header.
#pragma once

#if defined(__CUDACC__)
#define SPANSCOPE_HOST_DEVICE __host__ __device__
#else
#define SPANSCOPE_HOST_DEVICE
#endif
