// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels' interface to the machine. Kernels include no other header about the machine. Open this file
// before you write a kernel. There are two implementations: device_cuda.h for nvcc, and
// tests/support/cuda_emulation/device_emulation.h for other compilers. In the emulation, the threads of a
// thread block are fibers of the host.
//
// A thread block has one dimension, and a grid has up to three. All lanes of a warp must call the operations
// of a warp. If a lane does not call the operation, the emulation fails and a GPU hangs.
#pragma once

#include "kernels/cuda/annotations.h"
#include "kernels/cuda/bf16.h"
#include "kernels/cuda/kernel_budget.h"

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define SPANSCOPE_DEVICE __device__ __forceinline__
/// Comes before a kernel's name. The arguments limit the registers of the kernel, see KernelBudget.
#define SPANSCOPE_KERNEL(budget) __global__ void __launch_bounds__((budget).threads, (budget).blocks)
#define SPANSCOPE_UNROLL _Pragma("unroll")
#define SPANSCOPE_ROLLED _Pragma("unroll 1")
#else
#define SPANSCOPE_DEVICE inline
#define SPANSCOPE_KERNEL(budget) void
#define SPANSCOPE_UNROLL
#define SPANSCOPE_ROLLED
#endif

namespace spanscope::cuda {

inline constexpr int kWarpSize = 32;

// ---- The place of a thread

struct Index3 {
  int x;
  int y;
  int z;
};
SPANSCOPE_DEVICE int threadIndex();  ///< in its thread block
SPANSCOPE_DEVICE int threadCount();  ///< of a thread block
SPANSCOPE_DEVICE Index3 blockIndex();
SPANSCOPE_DEVICE Index3 gridSize();  ///< in thread blocks
SPANSCOPE_DEVICE int laneIndex() {
  return threadIndex() % kWarpSize;
}
SPANSCOPE_DEVICE int warpIndex() {
  return threadIndex() / kWarpSize;
}
SPANSCOPE_DEVICE int warpCount() {
  return threadCount() / kWarpSize;
}

// ---- Shared memory

/// Allocates the shared memory of the thread block, array by array, as sharedBytesOf counts the bytes. Every
/// thread must take the same arrays in the same order, and all of the requested memory. The contents are
/// undefined.
class SharedMemory {
 public:
  SPANSCOPE_DEVICE SharedMemory();
  template <class T>
  SPANSCOPE_DEVICE T* take(int count);

 private:
  std::size_t m_used = 0;  ///< bytes; in the emulation: number of arrays
};

// ---- Meeting points

SPANSCOPE_DEVICE void syncBlock();  ///< waits for all threads of the block; earlier writes of these threads
                                    ///< are readable after the call
SPANSCOPE_DEVICE void syncWarp();   ///< waits for all lanes of the warp

/// Returns the value of another lane. T must have 4 or 8 bytes.
template <class T>
SPANSCOPE_DEVICE T shuffle(T value, int sourceLane);
template <class T>
SPANSCOPE_DEVICE T shuffleXor(T value, int laneMask);
/// Returns the value of the lane `delta` below. The lowest lanes keep their own value.
template <class T>
SPANSCOPE_DEVICE T shuffleUp(T value, int delta);
/// Returns bits. Bit i is the `predicate` of lane i.
SPANSCOPE_DEVICE std::uint32_t ballot(bool predicate);

// ---- Atomic operations on shared or global memory; each returns the previous value

SPANSCOPE_DEVICE std::uint32_t atomicAdd(std::uint32_t* target, std::uint32_t value);
SPANSCOPE_DEVICE std::uint64_t atomicAdd(std::uint64_t* target, std::uint64_t value);
SPANSCOPE_DEVICE std::uint32_t atomicMin(std::uint32_t* target, std::uint32_t value);

SPANSCOPE_DEVICE int lowestBit(std::uint32_t bits);  ///< number of the lowest set bit; `bits` must not be 0
SPANSCOPE_DEVICE int countBits(std::uint32_t bits);

// ---- Numbers. Functions named Exact round to nearest, ties to even, keep subnormal numbers and are never
// fused

SPANSCOPE_DEVICE float toFloat(Bf16 value);
SPANSCOPE_DEVICE Bf16 toBf16(float value);  ///< rounds to nearest, ties to even
SPANSCOPE_DEVICE std::uint32_t bitsOf(float value);
SPANSCOPE_DEVICE float floatOf(std::uint32_t bits);
/// Returns two values rounded to bf16. `low` is in the lower half.
SPANSCOPE_DEVICE std::uint32_t packBf16(float low, float high);
SPANSCOPE_DEVICE float addExact(float a, float b);
SPANSCOPE_DEVICE float multiplyExact(float a, float b);
SPANSCOPE_DEVICE float divideExact(float a, float b);
SPANSCOPE_DEVICE float roundExact(float value);                ///< to an integer
SPANSCOPE_DEVICE float scaleExact(float value, int exponent);  ///< value · 2^exponent
SPANSCOPE_DEVICE float toFloatExact(std::uint64_t value);
SPANSCOPE_DEVICE std::uint64_t multiplyHigh(std::uint64_t a, std::uint64_t b);  ///< ⌊a · b / 2^64⌋
SPANSCOPE_DEVICE float multiplyAdd(float a, float b, float c);  ///< a · b + c; the product is not rounded
/// 2^value with a relative error of at most 2^−21. The result is 0 for −∞.
SPANSCOPE_DEVICE float exp2Fast(float value);
/// 1 / √value with a relative error of at most 2^−21.
SPANSCOPE_DEVICE float inverseRootFast(float value);

// ---- 16 bytes at a time, at an address that is a multiple of 16

struct Words4 {
  std::uint32_t words[4];
};
SPANSCOPE_DEVICE Words4 load16(const void* source);
SPANSCOPE_DEVICE void store16(void* target, const Words4& value);
/// Loads 16 bytes of global memory that no thread writes while the kernel runs, and that no other thread
/// reads. Data that other threads read again then stays in the cache.
SPANSCOPE_DEVICE Words4 loadOnce16(const void* globalSource);

/// Starts to copy 16 bytes of global memory to shared memory. The copy reads only the first `bytes` (0 … 16).
/// The rest becomes 0. This thread may use the data after waitCopies(), other threads after a barrier.
SPANSCOPE_DEVICE void copyAsync16(void* sharedTarget, const void* globalSource, int bytes = 16);
/// Closes a group: the copies that this thread started since the last group. The group may be empty.
SPANSCOPE_DEVICE void commitCopies();
/// Waits until all groups of this thread have arrived, except the `Pending` youngest.
template <int Pending>
SPANSCOPE_DEVICE void waitCopies();

// ---- Tensor cores. PTX ISA: "Matrix Fragments for mma.m16n8k16 with floating point type", "ldmatrix"

/// A fragment of the left factor, 16 rows × 16 columns, two bf16 per register.
struct LeftFragment {
  std::uint32_t registers[4];
};
/// A fragment of the right factor, 16 rows × 8 columns, two bf16 per register.
struct RightFragment {
  std::uint32_t registers[2];
};
/// A fragment of a sum, 16 rows × 8 columns.
struct SumFragment {
  float values[4];
};
/// sum += left · right. All lanes of a warp must call this function.
SPANSCOPE_DEVICE void multiplyAccumulate(SumFragment& sum, const LeftFragment& left,
                                         const RightFragment& right);
/// Loads Count (1, 2 or 4) matrices of 8 × 8 elements of 16 bits. Lane 8·i + r passes the address of row r of
/// matrix i: 16 bytes in shared memory. In lane t, registers[i] gets two neighbouring elements of matrix i,
/// from element 2·(t mod 4). The two elements are in row t / 4 or, if Transposed, in column t / 4.
template <int Count, bool Transposed>
SPANSCOPE_DEVICE void loadMatrices(std::uint32_t (&registers)[Count], const void* sharedRow);

}  // namespace spanscope::cuda

#if defined(__CUDACC__)
#include "kernels/cuda/device_cuda.h"
#else
#include "device_emulation.h"  // builds without nvcc set the include path
#endif
