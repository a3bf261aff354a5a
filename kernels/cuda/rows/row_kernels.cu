// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/device.h"
#include "kernels/cuda/reductions.h"
#include "kernels/cuda/rows/bf16_vectors.h"
#include "kernels/cuda/rows/row_kernels.h"
#include "kernels/cuda/soft_cap.h"

namespace spanscope::cuda {

/// A block for each row.
SPANSCOPE_KERNEL(kBiasRowsBudget) biasRowsKernel(BiasRowsArguments arguments) {
  const std::int64_t first = static_cast<std::int64_t>(blockIndex().x) * arguments.columns;
  for (int i = threadIndex(); i < arguments.columns; i += threadCount()) {
    if (arguments.outIsFloat) {
      float* const out = static_cast<float*>(arguments.out) + first + i;
      *out = arguments.bias[i] + (arguments.accumulate ? *out : 0.0F);
    } else {
      Bf16* const out = static_cast<Bf16*>(arguments.out) + first + i;
      *out = toBf16(arguments.bias[i] + (arguments.accumulate ? toFloat(*out) : 0.0F));
    }
  }
}

void biasRows(Stream& stream, const BiasRowsArguments& arguments) {
  launch(stream, "biasRows", {.grid = {arguments.rows}, .threads = kBiasRowsBudget.threads}, biasRowsKernel,
         arguments);
}

/// A block for each row.
SPANSCOPE_KERNEL(kEmbedBudget) embedKernel(EmbedArguments arguments) {
  const int row = blockIndex().x;
  const std::int64_t columns = arguments.columns;
  copyRow(arguments.out + row * columns, arguments.table + arguments.ids[row] * columns, arguments.columns);
}

void embed(Stream& stream, const EmbedArguments& arguments) {
  launch(stream, "embed", {.grid = {arguments.rows}, .threads = kEmbedBudget.threads}, embedKernel,
         arguments);
}

namespace {

constexpr float kLog2E = 1.44269504088896340736F;
constexpr float kGeluFactor = 2 * 0.79788456080286535588F;  // 2 · √(2/π)
constexpr float kGeluCubic = kGeluFactor * 0.044715F;
constexpr int kBlockElements = kGatedActivationBudget.threads * kVectorElements;

}  // namespace

/// A block for each row and each range of kBlockElements columns.
SPANSCOPE_KERNEL(kGatedActivationBudget) gatedActivationKernel(GatedActivationArguments arguments) {
  const std::int64_t row = blockIndex().x;
  const int columns = arguments.columns;
  const int first = blockIndex().y * kBlockElements + threadIndex() * kVectorElements;
  if (first >= columns) return;
  const Bf16Vector gate = loadVector(arguments.gate + row * arguments.stride, first, columns);
  Bf16Vector values = loadVector(arguments.up + row * arguments.stride, first, columns);
  SPANSCOPE_UNROLL
  for (int i = 0; i < kVectorElements; ++i) {
    const float g = gate.elements[i];
    const float factor = arguments.isGelu ? kGeluFactor + kGeluCubic * g * g : 1.0F;
    values.elements[i] *= divideExact(g, 1.0F + exp2Fast(-g * factor * kLog2E));
  }
  storeVector(arguments.out + row * columns, first, columns, values);
}

void gatedActivation(Stream& stream, const GatedActivationArguments& arguments) {
  const int stretches = (arguments.columns + kBlockElements - 1) / kBlockElements;
  launch(stream, "gatedActivation",
         {.grid = {arguments.rows, stretches}, .threads = kGatedActivationBudget.threads},
         gatedActivationKernel, arguments);
}

/// A block for each row.
SPANSCOPE_KERNEL(kGatherRowsBudget) gatherRowsKernel(GatherRowsArguments arguments) {
  const int row = blockIndex().x;
  const std::int64_t columns = arguments.columns;
  copyRow(arguments.out + row * columns, arguments.x + arguments.rows[row] * columns, arguments.columns);
}

void gatherRows(Stream& stream, const GatherRowsArguments& arguments) {
  launch(stream, "gatherRows", {.grid = {arguments.count}, .threads = kGatherRowsBudget.threads},
         gatherRowsKernel, arguments);
}

/// A block for each row. A thread has the same elements in all loops, and thus reads only its own writes.
SPANSCOPE_KERNEL(kRmsNormBudget) rmsNormKernel(RmsNormArguments arguments) {
  SharedMemory shared;
  float* const scratch = shared.take<float>(kRmsNormThreads / kWarpSize);
  const int columns = arguments.columns;
  const std::int64_t begin = static_cast<std::int64_t>(blockIndex().x) * columns;
  Bf16* const x = arguments.x + begin;
  float squares = 0;
  float sum = 0;
  for (int i = threadIndex() * kVectorElements; i < columns; i += threadCount() * kVectorElements) {
    Bf16Vector values = loadVector(x, i, columns);
    if (arguments.added != nullptr) {
      const Bf16Vector added = loadVector(arguments.added + begin, i, columns);
      SPANSCOPE_UNROLL
      for (int e = 0; e < kVectorElements; ++e)
        values.elements[e] = toFloat(toBf16(values.elements[e] + added.elements[e]));
      storeVector(x, i, columns, values);
    }
    SPANSCOPE_UNROLL
    for (int e = 0; e < kVectorElements; ++e) {
      squares = multiplyAdd(values.elements[e], values.elements[e], squares);
      sum += values.elements[e];
    }
  }
  float mean = 0;
  if (arguments.centers) {
    mean = blockSum(sum, scratch) / static_cast<float>(columns);
    syncBlock();  // the scratch has been read
    squares = 0;
    for (int i = threadIndex() * kVectorElements; i < columns; i += threadCount() * kVectorElements) {
      const Bf16Vector values = loadVector(x, i, columns);
      SPANSCOPE_UNROLL
      for (int e = 0; e < kVectorElements; ++e) {
        const float difference = i + e < columns ? values.elements[e] - mean : 0.0F;
        squares = multiplyAdd(difference, difference, squares);
      }
    }
  }
  const float meanSquare = blockSum(squares, scratch) / static_cast<float>(columns);
  const float factor = inverseRootFast(meanSquare + arguments.epsilon);
  for (int i = threadIndex() * kVectorElements; i < columns; i += threadCount() * kVectorElements) {
    Bf16Vector values = loadVector(x, i, columns);
    SPANSCOPE_UNROLL
    for (int e = 0; e < kVectorElements; ++e) {
      if (i + e < columns)
        values.elements[e] = (values.elements[e] - mean) * (factor * arguments.weight[i + e]);
    }
    storeVector(arguments.out + begin, i, columns, values);
  }
}

void rmsNorm(Stream& stream, const RmsNormArguments& arguments) {
  launch(stream, "rmsNorm",
         {.grid = {arguments.rows},
          .threads = kRmsNormBudget.threads,
          .sharedBytes = kRmsNormBudget.sharedBytes},
         rmsNormKernel, arguments);
}

SPANSCOPE_KERNEL(kScaledSumBudget) scaledSumKernel(ScaledSumArguments arguments) {
  const std::int64_t i = static_cast<std::int64_t>(blockIndex().x) * kScaledSumBudget.threads + threadIndex();
  if (i >= arguments.count) return;
  const float added = arguments.x == nullptr ? 0.0F : arguments.factor * toFloat(arguments.x[i]);
  if (arguments.outIsFloat) {
    float* const out = static_cast<float*>(arguments.out) + i;
    *out = arguments.outFactor * *out + added;
  } else {
    Bf16* const out = static_cast<Bf16*>(arguments.out) + i;
    *out = toBf16(arguments.outFactor * toFloat(*out) + added);
  }
}

SPANSCOPE_KERNEL(kSoftCapBudget) softCapKernel(SoftCapArguments arguments) {
  const std::int64_t i = static_cast<std::int64_t>(blockIndex().x) * kSoftCapBudget.threads + threadIndex();
  if (i >= arguments.count) return;
  if (arguments.isFloat) {
    float* const x = static_cast<float*>(arguments.x) + i;
    *x = softCapped(*x, arguments.cap);
  } else {
    Bf16* const x = static_cast<Bf16*>(arguments.x) + i;
    *x = toBf16(softCapped(toFloat(*x), arguments.cap));
  }
}

void softCap(Stream& stream, const SoftCapArguments& arguments) {
  const std::int64_t blocks = (arguments.count + kSoftCapBudget.threads - 1) / kSoftCapBudget.threads;
  launch(stream, "softCap", {.grid = {static_cast<int>(blocks)}, .threads = kSoftCapBudget.threads},
         softCapKernel, arguments);
}

/// A block for each row.
SPANSCOPE_KERNEL(kTakeColumnsBudget) takeColumnsKernel(TakeColumnsArguments arguments) {
  const std::int64_t row = blockIndex().x;
  const Bf16* const x = arguments.x + row * arguments.stride + arguments.first;
  Bf16* const out = arguments.out + row * arguments.columns;
  for (int i = threadIndex(); i < arguments.columns; i += threadCount()) out[i] = x[i];
}

void takeColumns(Stream& stream, const TakeColumnsArguments& arguments) {
  launch(stream, "takeColumns", {.grid = {arguments.rows}, .threads = kTakeColumnsBudget.threads},
         takeColumnsKernel, arguments);
}

void scaledSum(Stream& stream, const ScaledSumArguments& arguments) {
  const std::int64_t blocks = (arguments.count + kScaledSumBudget.threads - 1) / kScaledSumBudget.threads;
  launch(stream, "scaledSum", {.grid = {static_cast<int>(blocks)}, .threads = kScaledSumBudget.threads},
         scaledSumKernel, arguments);
}

}  // namespace spanscope::cuda
