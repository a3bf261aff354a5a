// SPDX-License-Identifier: GPL-3.0-or-later
// All that kernels know of the machine they run on, and the only header of it that they include. It has two
// implementations: device_cuda.h for nvcc, and tests/support/cuda_emulation/device_emulation.h for every
// other compiler, where a block's threads are fibers of the host.
//
// A block has one dimension, a grid up to three. Operations of a warp are met by all lanes of it; where a
// lane does not come, the emulation fails and a card hangs.
#pragma once

#include "kernels/cuda/annotations.h"
#include "kernels/cuda/bf16.h"
#include "kernels/cuda/kernel_budget.h"

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define SPANSCOPE_DEVICE __device__ __forceinline__
/// Before a kernel's name; the arguments bound its registers as KernelBudget says.
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

// ---- Where a thread stands

struct Index3 {
  int x;
  int y;
  int z;
};
SPANSCOPE_DEVICE int threadIndex();  ///< in its block
SPANSCOPE_DEVICE int threadCount();  ///< of a block
SPANSCOPE_DEVICE Index3 blockIndex();
SPANSCOPE_DEVICE Index3 gridSize();  ///< in blocks
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

/// Gives out the shared memory of the block, array after array, as sharedBytesOf counts it. Every thread
/// takes the same arrays in the same order, and all that was asked for at the launch; contents are undefined.
class SharedMemory {
 public:
  SPANSCOPE_DEVICE SharedMemory();
  template <class T>
  SPANSCOPE_DEVICE T* take(int count);

 private:
  std::size_t m_used = 0;  ///< bytes; in the emulation arrays
};

// ---- Meeting points

SPANSCOPE_DEVICE void syncBlock();  ///< all threads of the block; what they wrote before can be read after
SPANSCOPE_DEVICE void syncWarp();   ///< the same for all lanes of the warp

/// The value of another lane; T has 4 or 8 bytes.
template <class T>
SPANSCOPE_DEVICE T shuffle(T value, int sourceLane);
template <class T>
SPANSCOPE_DEVICE T shuffleXor(T value, int laneMask);
/// The value of the lane `delta` below; the lowest lanes keep their own.
template <class T>
SPANSCOPE_DEVICE T shuffleUp(T value, int delta);
/// Bit i says what lane i was told.
SPANSCOPE_DEVICE std::uint32_t ballot(bool predicate);

// ---- Atomic operations on shared or global memory; each gives what stood there before

SPANSCOPE_DEVICE std::uint32_t atomicAdd(std::uint32_t* target, std::uint32_t value);
SPANSCOPE_DEVICE std::uint64_t atomicAdd(std::uint64_t* target, std::uint64_t value);
SPANSCOPE_DEVICE std::uint32_t atomicMin(std::uint32_t* target, std::uint32_t value);

SPANSCOPE_DEVICE int lowestBit(std::uint32_t bits);  ///< number of the lowest bit that is set; there is one
SPANSCOPE_DEVICE int countBits(std::uint32_t bits);

// ---- Numbers. Exact ones round to nearest, ties to even, keep subnormal numbers and are never fused

SPANSCOPE_DEVICE float toFloat(Bf16 value);
SPANSCOPE_DEVICE Bf16 toBf16(float value);  ///< rounds to nearest, ties to even
SPANSCOPE_DEVICE std::uint32_t bitsOf(float value);
SPANSCOPE_DEVICE float floatOf(std::uint32_t bits);
/// Two values rounded to bf16, `low` in the lower half.
SPANSCOPE_DEVICE std::uint32_t packBf16(float low, float high);
SPANSCOPE_DEVICE float addExact(float a, float b);
SPANSCOPE_DEVICE float multiplyExact(float a, float b);
SPANSCOPE_DEVICE float divideExact(float a, float b);
SPANSCOPE_DEVICE float roundExact(float value);                ///< to an integer
SPANSCOPE_DEVICE float scaleExact(float value, int exponent);  ///< value · 2^exponent
SPANSCOPE_DEVICE float toFloatExact(std::uint64_t value);
SPANSCOPE_DEVICE std::uint64_t multiplyHigh(std::uint64_t a, std::uint64_t b);  ///< ⌊a · b / 2^64⌋
SPANSCOPE_DEVICE float multiplyAdd(float a, float b, float c);  ///< a · b + c, the product not rounded
/// 2^value with a relative error of at most 2^−21; 0 for −∞.
SPANSCOPE_DEVICE float exp2Fast(float value);
/// 1 / √value with a relative error of at most 2^−21.
SPANSCOPE_DEVICE float inverseRootFast(float value);

// ---- 16 bytes at a time, at an address that is a multiple of 16

struct Words4 {
  std::uint32_t words[4];
};
SPANSCOPE_DEVICE Words4 load16(const void* source);
SPANSCOPE_DEVICE void store16(void* target, const Words4& value);
/// The same of global memory that nobody writes while the kernel runs and that nobody else reads: what others
/// read again stays in the cache instead.
SPANSCOPE_DEVICE Words4 loadOnce16(const void* globalSource);

/// Starts to copy 16 bytes of global memory to shared memory; only the first `bytes` (0 … 16) are read, the
/// rest becomes 0. What is there may be used after waitCopies by this thread, after a barrier by others.
SPANSCOPE_DEVICE void copyAsync16(void* sharedTarget, const void* globalSource, int bytes = 16);
/// Closes a group of the copies that this thread started since the last one; it may be empty.
SPANSCOPE_DEVICE void commitCopies();
/// Waits until all but the `Pending` youngest groups of this thread have arrived.
template <int Pending>
SPANSCOPE_DEVICE void waitCopies();

// ---- Tensor cores. PTX ISA: "Matrix Fragments for mma.m16n8k16 with floating point type", "ldmatrix"

/// A fragment of the left factor, 16 rows × 16 columns, two bf16 a register.
struct LeftFragment {
  std::uint32_t registers[4];
};
/// A fragment of the right factor, 16 rows × 8 columns, two bf16 a register.
struct RightFragment {
  std::uint32_t registers[2];
};
/// A fragment of a sum, 16 rows × 8 columns.
struct SumFragment {
  float values[4];
};
/// sum += left · right, by all lanes of a warp.
SPANSCOPE_DEVICE void multiplyAccumulate(SumFragment& sum, const LeftFragment& left,
                                         const RightFragment& right);
/// Loads Count (1, 2 or 4) matrices of 8 × 8 elements of 16 bits. Lane 8·i + r gives the address of row r of
/// matrix i, 16 bytes in shared memory; registers[i] of lane t gets elements 2·(t mod 4) and the next of row
/// t / 4 of matrix i, or, if Transposed, of column t / 4.
template <int Count, bool Transposed>
SPANSCOPE_DEVICE void loadMatrices(std::uint32_t (&registers)[Count], const void* sharedRow);

}  // namespace spanscope::cuda

#if defined(__CUDACC__)
#include "kernels/cuda/device_cuda.h"
#else
#include "device_emulation.h"  // whoever builds kernels without nvcc says where it lies
#endif
