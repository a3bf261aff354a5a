// SPDX-License-Identifier: GPL-3.0-or-later
// Implements device.h on the host. Only device.h includes it.
#pragma once

#include "tests/support/cuda_emulation/block.h"

#include <atomic>
#include <bit>
#include <cmath>

namespace spanscope::cuda {

inline int threadIndex() {
  return emulation::BlockRunner::current().threadIndex();
}
inline int threadCount() {
  return emulation::BlockRunner::current().threadCount();
}
inline Index3 blockIndex() {
  const Grid place = emulation::BlockRunner::current().place();
  return {place.x, place.y, place.z};
}
inline Index3 gridSize() {
  const Grid grid = emulation::BlockRunner::current().grid();
  return {grid.x, grid.y, grid.z};
}

inline SharedMemory::SharedMemory() = default;
template <class T>
T* SharedMemory::take(int count) {
  return static_cast<T*>(
      emulation::BlockRunner::current().takeShared(m_used++, static_cast<std::size_t>(count) * sizeof(T)));
}

namespace emulation {

template <class T>
struct ShuffleOperand {
  T value;
  int source;
  T result;
};
/// Gives every lane the value of the lane that it names.
template <class T>
T shuffleFrom(const char* name, T value, int source) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  ShuffleOperand<T> operand{value, source, value};
  BlockRunner::current().meetWarp(name, &operand, [](void* const* operands) {
    for (int lane = 0; lane < kLanes; ++lane) {
      auto& own = *static_cast<ShuffleOperand<T>*>(operands[lane]);
      own.result = static_cast<ShuffleOperand<T>*>(operands[own.source & (kLanes - 1)])->value;
    }
  });
  return operand.result;
}

struct BallotOperand {
  bool predicate;
  std::uint32_t result;
};

struct ProductOperand {
  SumFragment* sum;
  const LeftFragment* left;
  const RightFragment* right;
};
/// See multiplyAccumulate.
void completeProduct(void* const* operands);

struct MatricesOperand {
  std::uint32_t* registers;
  alignas(16) std::uint16_t row[8];  ///< row of the lane, if it gives one
};
/// The element `element` (0 or 1) of register `index` of lane `lane`; see loadMatrices.
std::uint16_t loadedElement(void* const* operands, int index, int lane, int element, bool transposed);

template <int Count, bool Transposed>
void completeMatrices(void* const* operands) {
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < Count; ++i) {
      const std::uint32_t low = loadedElement(operands, i, lane, 0, Transposed);
      const std::uint32_t high = loadedElement(operands, i, lane, 1, Transposed);
      static_cast<MatricesOperand*>(operands[lane])->registers[i] = low | high << 16U;
    }
  }
}

/// Throws a Failure of the running thread unless `pointer` is a multiple of 16.
void check16(const void* pointer);

}  // namespace emulation

inline void syncBlock() {
  emulation::BlockRunner::current().barrier();
}
inline void syncWarp() {
  emulation::BlockRunner::current().syncWarp();
}
template <class T>
T shuffle(T value, int sourceLane) {
  return emulation::shuffleFrom("shuffle", value, sourceLane);
}
template <class T>
T shuffleXor(T value, int laneMask) {
  return emulation::shuffleFrom("shuffleXor", value, laneIndex() ^ laneMask);
}
template <class T>
T shuffleUp(T value, int delta) {
  return emulation::shuffleFrom("shuffleUp", value, laneIndex() >= delta ? laneIndex() - delta : laneIndex());
}
inline std::uint32_t ballot(bool predicate) {
  emulation::BallotOperand operand{predicate, 0};
  emulation::BlockRunner::current().meetWarp("ballot", &operand, [](void* const* operands) {
    std::uint32_t votes = 0;
    for (int lane = 0; lane < emulation::kLanes; ++lane) {
      if (static_cast<emulation::BallotOperand*>(operands[lane])->predicate)
        votes |= 1U << static_cast<unsigned>(lane);
    }
    for (int lane = 0; lane < emulation::kLanes; ++lane)
      static_cast<emulation::BallotOperand*>(operands[lane])->result = votes;
  });
  return operand.result;
}

inline std::uint32_t atomicAdd(std::uint32_t* target, std::uint32_t value) {
  return std::atomic_ref(*target).fetch_add(value, std::memory_order_relaxed);
}
inline std::uint64_t atomicAdd(std::uint64_t* target, std::uint64_t value) {
  return std::atomic_ref(*target).fetch_add(value, std::memory_order_relaxed);
}
inline std::uint32_t atomicMin(std::uint32_t* target, std::uint32_t value) {
  const std::atomic_ref reference(*target);
  std::uint32_t before = reference.load(std::memory_order_relaxed);
  while (value < before && !reference.compare_exchange_weak(before, value, std::memory_order_relaxed)) {
  }
  return before;
}

inline int lowestBit(std::uint32_t bits) {
  return std::countr_zero(bits);
}
inline int countBits(std::uint32_t bits) {
  return std::popcount(bits);
}

inline float floatOf(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}
inline std::uint32_t bitsOf(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
inline float toFloat(Bf16 value) {
  return floatOf(static_cast<std::uint32_t>(value.bits) << 16U);
}
inline Bf16 toBf16(float value) {
  const std::uint32_t bits = bitsOf(value);
  if (value != value) return {0x7FFF};
  return {static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U)};
}
inline std::uint32_t packBf16(float low, float high) {
  return static_cast<std::uint32_t>(toBf16(low).bits) | static_cast<std::uint32_t>(toBf16(high).bits) << 16U;
}
inline float addExact(float a, float b) {
  return a + b;
}
inline float multiplyExact(float a, float b) {
  return a * b;
}
inline float divideExact(float a, float b) {
  return a / b;
}
inline float roundExact(float value) {
  return std::nearbyint(value);
}
inline float scaleExact(float value, int exponent) {
  return std::ldexp(value, exponent);
}
inline float toFloatExact(std::uint64_t value) {
  return static_cast<float>(value);
}
inline std::uint64_t multiplyHigh(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(a) * b >> 64U);
}
inline float multiplyAdd(float a, float b, float c) {
  // The product of two f32 is exact in double, so that only the sum rounds, and then the result again.
  return static_cast<float>(static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c));
}
inline float exp2Fast(float value) {
  return std::exp2(value);
}
inline float inverseRootFast(float value) {
  return 1.0F / std::sqrt(value);
}

inline Words4 load16(const void* source) {
  emulation::check16(source);
  alignas(16) Words4 value;
  emulation::copy16(&value, source);
  return value;
}
inline void store16(void* target, const Words4& value) {
  emulation::check16(target);
  alignas(16) const Words4 own = value;
  emulation::copy16(target, &own);
}

inline Words4 loadOnce16(const void* globalSource) {
  return load16(globalSource);
}

inline void copyAsync16(void* sharedTarget, const void* globalSource, int bytes) {
  emulation::BlockRunner::current().startCopy(sharedTarget, globalSource, bytes);
}
inline void commitCopies() {
  emulation::BlockRunner::current().commitCopies();
}
template <int Pending>
void waitCopies() {
  emulation::BlockRunner::current().waitCopies(static_cast<std::size_t>(Pending));
}

inline void multiplyAccumulate(SumFragment& sum, const LeftFragment& left, const RightFragment& right) {
  emulation::ProductOperand operand{&sum, &left, &right};
  emulation::BlockRunner::current().meetWarp("multiplyAccumulate", &operand, &emulation::completeProduct);
}
template <int Count, bool Transposed>
void loadMatrices(std::uint32_t (&registers)[Count], const void* sharedRow) {
  static_assert(Count == 1 || Count == 2 || Count == 4);
  emulation::MatricesOperand operand{registers, {}};
  if (laneIndex() < 8 * Count) {
    emulation::check16(sharedRow);
    emulation::copy16(operand.row, sharedRow);
  }
  emulation::BlockRunner::current().meetWarp("loadMatrices", &operand,
                                             &emulation::completeMatrices<Count, Transposed>);
}

}  // namespace spanscope::cuda
