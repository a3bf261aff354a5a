// SPDX-License-Identifier: GPL-3.0-or-later
// Random attention problems on the emulated card, and what is right in double precision.
#pragma once

#include "kernels/cuda/attention/span_table.h"
#include "tests/kernels/cuda/card_pool.h"
#include "tests/kernels/cuda/emulated_card.h"
#include "tests/support/random_values.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace spanscope::testing {

struct ProblemShape {
  int rows = 1;      ///< of the last run
  int keys = 100;    ///< that the last run sees, about
  int segments = 3;  ///< that the last run sees, its own included
  int keyHeads = 2;
  int group = 4;  ///< query heads of a key head
  int headSize = 64;
  int blockSize = 16;
  bool isFloat = false;

  std::string text() const;
};

/// What the emulation has to multiply, some ten million products a second.
std::int64_t productsOf(const ProblemShape& shape);

/// Choices of which pairwiseShapes() has every two values of two of them in some shape.
struct ShapeChoices {
  std::vector<int> rows;
  std::vector<int> keys;
  std::vector<int> segments;
  std::vector<int> headSizes;
  std::vector<int> groups;
  std::vector<int> blockSizes;
};
/// In bf16; rows are halved where there are more products than `mostProducts`, down to 16.
std::vector<ProblemShape> pairwiseShapes(const ShapeChoices& choices, std::int64_t mostProducts,
                                         Random& random);

/// What a row's attention should be, and how far f32 arithmetic may be off.
struct ProblemResult {
  std::vector<double> out;                 ///< [rows][queryHeads · headSize]
  std::vector<double> magnitude;           ///< of each element of out: the same sum of absolute values
  std::vector<std::vector<double>> mass;   ///< by run: [queryHeads][stretches]
  std::vector<std::vector<double>> first;  ///< by run: [queryHeads][segments]
  std::vector<double> logSums;  ///< [rows][queryHeads]: logarithm of the sum of e^score; −∞ without keys
  /// Relative to a weight, in f32. An element of out is off by at most this times its magnitude.
  double weightTolerance = 0;
  double scoreNorm = 0;  ///< scale · largest norms of queries and keys: no score is larger
};

/// A pool with keys and values at random blocks, and two runs of rows: a single row that sees the first
/// segment only, and rows that see all.
class AttentionProblem {
 public:
  AttentionProblem(EmulatedCard& card, const ProblemShape& shape, Random& random);

  static constexpr int kLayer = 1;
  static constexpr double kTheta = 10000.0;

  const ProblemShape& shape() const { return m_shape; }
  int rows() const { return m_shape.rows + 1; }
  int queryHeads() const { return m_shape.keyHeads * m_shape.group; }
  float scale() const;
  const cuda::KeyValuePool& pool() const { return m_pool->shape(); }
  const std::vector<cuda::Bf16>& queries() const { return m_queries; }  ///< [rows][queryHeads · headSize]
  const std::vector<double>& frequencies() const { return m_angles.frequencies(); }
  std::vector<cuda::RowRun>& runs() { return m_runs; }
  const std::vector<cuda::RowRun>& runs() const { return m_runs; }

  /// Gives a token of the last run's own segment values that stand out: whoever reads it is far from whoever
  /// does not.
  void markKey(std::int32_t token);

  /// Makes all queries positive, and of the last run's own segment the first `count` keys such that, not
  /// turned, their weight is 0 beside any other's.
  void ignoreKeys(std::int32_t count);

  /// By the most direct loops over what the pool holds.
  ProblemResult reference() const;

 private:
  /// Where a token of the last run's own segment begins.
  std::size_t placeOfOwn(std::int32_t token, int head) const;

  ProblemShape m_shape;
  RotaryAngles m_angles;
  std::unique_ptr<CardPool> m_pool;
  std::vector<float> m_keys;    ///< what the pool holds
  std::vector<float> m_values;  ///< the same
  std::vector<cuda::Bf16> m_queries;
  std::vector<cuda::RowRun> m_runs;
};

/// How far a score may be off where turned queries are rounded to bf16.
double scoreToleranceOnTensorCores(const AttentionProblem& problem, const ProblemResult& expected);

/// What is wrong with results of tensor cores, where queries and weights are rounded to bf16; empty if
/// nothing is.
std::string differsOnTensorCores(const AttentionProblem& problem, const std::vector<cuda::Bf16>& out,
                                 const ProblemResult& expected);

}  // namespace spanscope::testing
