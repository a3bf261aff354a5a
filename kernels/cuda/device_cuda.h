// SPDX-License-Identifier: GPL-3.0-or-later
// Implements device.h on a GPU. Only device.h includes this file. Open this file to use another PTX
// instruction.
#pragma once

namespace spanscope::cuda {

inline constexpr unsigned kAllLanes = 0xFFFFFFFFU;

SPANSCOPE_DEVICE int threadIndex() {
  return static_cast<int>(threadIdx.x);
}
SPANSCOPE_DEVICE int threadCount() {
  return static_cast<int>(blockDim.x);
}
SPANSCOPE_DEVICE Index3 blockIndex() {
  return {static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y), static_cast<int>(blockIdx.z)};
}
SPANSCOPE_DEVICE Index3 gridSize() {
  return {static_cast<int>(gridDim.x), static_cast<int>(gridDim.y), static_cast<int>(gridDim.z)};
}

/// Returns the beginning of the thread block's shared memory.
SPANSCOPE_DEVICE std::byte* sharedMemoryBegin() {
  extern __shared__ __align__(16) std::byte bytes[];
  return bytes;
}
SPANSCOPE_DEVICE SharedMemory::SharedMemory() = default;
template <class T>
SPANSCOPE_DEVICE T* SharedMemory::take(int count) {
  std::byte* begin = sharedMemoryBegin() + m_used;
  m_used += sharedBytesOf<T>(static_cast<std::size_t>(count));
  return reinterpret_cast<T*>(begin);
}

SPANSCOPE_DEVICE void syncBlock() {
  __syncthreads();
}
SPANSCOPE_DEVICE void syncWarp() {
  __syncwarp();
}
template <class T>
SPANSCOPE_DEVICE T shuffle(T value, int sourceLane) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  return __shfl_sync(kAllLanes, value, sourceLane);
}
template <class T>
SPANSCOPE_DEVICE T shuffleXor(T value, int laneMask) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  return __shfl_xor_sync(kAllLanes, value, laneMask);
}
template <class T>
SPANSCOPE_DEVICE T shuffleUp(T value, int delta) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  return __shfl_up_sync(kAllLanes, value, static_cast<unsigned>(delta));
}
SPANSCOPE_DEVICE std::uint32_t ballot(bool predicate) {
  return __ballot_sync(kAllLanes, predicate ? 1 : 0);
}

SPANSCOPE_DEVICE std::uint32_t atomicAdd(std::uint32_t* target, std::uint32_t value) {
  return ::atomicAdd(target, value);
}
SPANSCOPE_DEVICE std::uint64_t atomicAdd(std::uint64_t* target, std::uint64_t value) {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  return ::atomicAdd(reinterpret_cast<unsigned long long*>(target), static_cast<unsigned long long>(value));
}
SPANSCOPE_DEVICE std::uint32_t atomicMin(std::uint32_t* target, std::uint32_t value) {
  return ::atomicMin(target, value);
}

SPANSCOPE_DEVICE int lowestBit(std::uint32_t bits) {
  return __ffs(static_cast<int>(bits)) - 1;
}
SPANSCOPE_DEVICE int countBits(std::uint32_t bits) {
  return __popc(bits);
}

SPANSCOPE_DEVICE float floatOf(std::uint32_t bits) {
  return __uint_as_float(bits);
}
SPANSCOPE_DEVICE std::uint32_t bitsOf(float value) {
  return __float_as_uint(value);
}
SPANSCOPE_DEVICE float toFloat(Bf16 value) {
  return floatOf(static_cast<std::uint32_t>(value.bits) << 16U);
}
SPANSCOPE_DEVICE Bf16 toBf16(float value) {
  Bf16 result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
  return result;
}
SPANSCOPE_DEVICE std::uint32_t packBf16(float low, float high) {
  std::uint32_t result;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}
SPANSCOPE_DEVICE float addExact(float a, float b) {
  return __fadd_rn(a, b);
}
SPANSCOPE_DEVICE float multiplyExact(float a, float b) {
  return __fmul_rn(a, b);
}
SPANSCOPE_DEVICE float divideExact(float a, float b) {
  return __fdiv_rn(a, b);
}
SPANSCOPE_DEVICE float roundExact(float value) {
  return rintf(value);
}
SPANSCOPE_DEVICE float scaleExact(float value, int exponent) {
  return ldexpf(value, exponent);
}
SPANSCOPE_DEVICE float toFloatExact(std::uint64_t value) {
  return __ull2float_rn(value);
}
SPANSCOPE_DEVICE std::uint64_t multiplyHigh(std::uint64_t a, std::uint64_t b) {
  return __umul64hi(a, b);
}
SPANSCOPE_DEVICE float multiplyAdd(float a, float b, float c) {
  return __fmaf_rn(a, b, c);
}
SPANSCOPE_DEVICE float exp2Fast(float value) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}
SPANSCOPE_DEVICE float inverseRootFast(float value) {
  return rsqrtf(value);
}

SPANSCOPE_DEVICE Words4 load16(const void* source) {
  const uint4 value = *static_cast<const uint4*>(source);
  return {{value.x, value.y, value.z, value.w}};
}
SPANSCOPE_DEVICE void store16(void* target, const Words4& value) {
  *static_cast<uint4*>(target) = make_uint4(value.words[0], value.words[1], value.words[2], value.words[3]);
}

SPANSCOPE_DEVICE Words4 loadOnce16(const void* globalSource) {
  Words4 value;
  // Volatile: the load starts here, long before the use of its data.
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.words[0]), "=r"(value.words[1]), "=r"(value.words[2]), "=r"(value.words[3])
               : "l"(__cvta_generic_to_global(globalSource)));
  return value;
}

SPANSCOPE_DEVICE unsigned sharedAddress(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
SPANSCOPE_DEVICE void copyAsync16(void* sharedTarget, const void* globalSource, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(sharedAddress(sharedTarget)), "l"(globalSource), "r"(bytes)
               : "memory");
}
SPANSCOPE_DEVICE void commitCopies() {
  asm volatile("cp.async.commit_group;" : : : "memory");
}
template <int Pending>
SPANSCOPE_DEVICE void waitCopies() {
  asm volatile("cp.async.wait_group %0;" : : "n"(Pending) : "memory");
}

SPANSCOPE_DEVICE void multiplyAccumulate(SumFragment& sum, const LeftFragment& left,
                                         const RightFragment& right) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum.values[0]), "+f"(sum.values[1]), "+f"(sum.values[2]), "+f"(sum.values[3])
      : "r"(left.registers[0]), "r"(left.registers[1]), "r"(left.registers[2]), "r"(left.registers[3]),
        "r"(right.registers[0]), "r"(right.registers[1]));
}
template <int Count, bool Transposed>
SPANSCOPE_DEVICE void loadMatrices(std::uint32_t (&registers)[Count], const void* sharedRow) {
  static_assert(Count == 1 || Count == 2 || Count == 4);
  const unsigned address = sharedAddress(sharedRow);
  if constexpr (Count == 1 && !Transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(registers[0])
                 : "r"(address)
                 : "memory");
  } else if constexpr (Count == 1) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(registers[0])
                 : "r"(address)
                 : "memory");
  } else if constexpr (Count == 2 && !Transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(registers[0]), "=r"(registers[1])
                 : "r"(address)
                 : "memory");
  } else if constexpr (Count == 2) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(registers[0]), "=r"(registers[1])
                 : "r"(address)
                 : "memory");
  } else if constexpr (!Transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
                 : "r"(address)
                 : "memory");
  }
}

}  // namespace spanscope::cuda
