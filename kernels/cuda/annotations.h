// SPDX-License-Identifier: GPL-3.0-or-later
// What a function is compiled for. Files that hosts and kernels both read have this instead of a CUDA header.
#pragma once

#if defined(__CUDACC__)
#define SPANSCOPE_HOST_DEVICE __host__ __device__
#else
#define SPANSCOPE_HOST_DEVICE
#endif
