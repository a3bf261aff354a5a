// SPDX-License-Identifier: GPL-3.0-or-later
// Random attention problems on the emulated card, and their results in double precision.
#pragma once

#include "kernels/cuda/attention/row_runs.h"
#include "tests/kernels/cuda/device_pool.h"
#include "tests/kernels/cuda/emulated_card.h"
#include "tests/support/random_values.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace spanscope::testing {

struct ProblemShape {
  int rows = 1;      ///< rows of the last run
  int keys = 100;    ///< keys that the last run sees, about
  int segments = 3;  ///< segments that the last run sees, its own included
  int keyHeads = 2;
  int group = 4;  ///< query heads of a key head
  int headSize = 64;
  int blockSize = 16;
  bool isFloat = false;
  int window = 0;  ///< as in cuda::RowRun

  std::string text() const;
};

/// The number of products that the emulation has to compute. It does some ten million a second.
std::int64_t productsOf(const ProblemShape& shape);

/// The choices for each field of a shape. pairwiseShapes() combines them so that any two values of two fields
/// occur together in some shape.
struct ShapeChoices {
  std::vector<int> rows;
  std::vector<int> keys;
  std::vector<int> segments;
  std::vector<int> headSizes;
  std::vector<int> groups;
  std::vector<int> blockSizes;
  std::vector<int> windows = {0};
};
/// The combined shapes, in bf16. If a shape has more products than `mostProducts`, its rows are halved, down
/// to 16.
std::vector<ProblemShape> pairwiseShapes(const ShapeChoices& choices, std::int64_t mostProducts,
                                         Random& random);

/// The expected attention of rows, and how far f32 arithmetic may be off.
struct ProblemResult {
  std::vector<double> out;        ///< [rows][queryHeads · headSize]
  std::vector<double> magnitude;  ///< for each element of `out`: the sum of the absolute values of its terms
  std::vector<std::vector<double>> mass;   ///< by run: [queryHeads][stretches]
  std::vector<std::vector<double>> first;  ///< by run: [queryHeads][segments]
  std::vector<double> logSums;  ///< [rows][queryHeads]: logarithm of the sum of e^score; −∞ without keys
  /// Tolerance in f32, relative to a weight. An element of `out` is off by at most this times its magnitude.
  double weightTolerance = 0;
  double scoreNorm = 0;  ///< scale times the largest norms of queries and keys; no score is larger
};

/// A pool with keys and values in random blocks, and two runs of rows: a single row that sees only the first
/// segment, and rows that see all segments.
class AttentionProblem {
 public:
  AttentionProblem(EmulatedDevice& card, const ProblemShape& shape, Random& random);

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

  /// Gives a token of the last run's own segment very large values, so that results with it are far from
  /// results without it.
  void markKey(std::int32_t token);

  /// Makes all queries positive. Sets the first `count` keys of the last run's own segment so that, without
  /// rotation, their weight is 0 beside that of any other key.
  void ignoreKeys(std::int32_t count);

  /// Computes the results by the most direct loops over the pool.
  ProblemResult reference() const;

 private:
  /// The place in the pool where a token of the last run's own segment begins.
  std::size_t placeOfOwn(std::int32_t token, int head) const;

  ProblemShape m_shape;
  RotaryAngles m_angles;
  std::unique_ptr<DevicePool> m_pool;
  std::vector<float> m_keys;    ///< keys in the pool
  std::vector<float> m_values;  ///< values in the pool
  std::vector<cuda::Bf16> m_queries;
  std::vector<cuda::RowRun> m_runs;
};

/// How far a score may be off if rotated queries are rounded to bf16.
double scoreToleranceOnTensorCores(const AttentionProblem& problem, const ProblemResult& expected);

/// What is wrong with results of tensor cores, which round queries and weights to bf16; empty: nothing.
std::string differsOnTensorCores(const AttentionProblem& problem, const std::vector<cuda::Bf16>& out,
                                 const ProblemResult& expected);

}  // namespace spanscope::testing
