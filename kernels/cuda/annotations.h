// SPDX-License-Identifier: GPL-3.0-or-later
// Marks the targets for which a function is compiled. Files for both host and kernels include this header and
// no CUDA header. Open this file to add a marker.
#pragma once

#if defined(__CUDACC__)
#define SPANSCOPE_HOST_DEVICE __host__ __device__
#else
#define SPANSCOPE_HOST_DEVICE
#endif
