// SPDX-License-Identifier: GPL-3.0-or-later
// Random attention problems: segments of stored tokens, requests that read them, and the ways in which one
// problem can be given to a backend.
#pragma once

#include "engine/compute/backend.h"
#include "tests/support/random_values.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace spanscope::testing {

struct SceneShape {
  std::int32_t queryHeads = 4;
  std::int32_t keyHeads = 2;
  std::int32_t headSize = 8;
  std::int32_t blockSize = 16;
  compute::DType type = compute::DType::F32;
  std::int32_t segments = 3;
  std::int32_t mostTokens = 60;  ///< max number of tokens of a segment
  std::int32_t rows = 20;        ///< query rows: the last tokens of the last segment
  std::int32_t mostBlocks = 0;   ///< max number of blocks that a row reads, as in compute::QueryRun
  std::int32_t window = 0;       ///< as in compute::AttentionShape
  compute::PositionScale positionScale = {};
  float softCap = 0;  ///< as in compute::AttentionShape
};

/// Tokens of one segment, with their keys (not rotated) and values: [tokens][keyHeads · headSize].
struct SceneSegment {
  std::int32_t tokens = 0;
  std::int64_t base = 0;
  std::int32_t begin = 0;  ///< first token that others read
  std::int32_t end = 0;    ///< one past the last
  std::vector<float> keys;
  std::vector<float> values;
};

struct Scene {
  SceneShape shape;
  compute::RotaryTable rotary;
  std::vector<SceneSegment> segments;  ///< the last is the rows' own
  std::vector<float> queries;          ///< [rows][queryHeads · headSize]
  std::vector<float> sinks = {};       ///< [queryHeads], or none

  std::int32_t firstLocal() const { return segments.back().tokens - shape.rows; }
  compute::AttentionShape attention() const;
  std::string text() const;
};

Scene makeScene(const SceneShape& shape, Random& random);
/// A random shape.
SceneShape randomShape(Random& random);

/// How a scene is given to a backend. None of this may change the results.
struct Presentation {
  std::uint64_t blockSeed = 1;            ///< which physical blocks are used
  std::int64_t shift = 0;                 ///< added to all bases
  std::vector<std::int32_t> chunks = {};  ///< rows of each run; empty: one run
  bool onePassPerChunk = false;           ///< and later tokens are not stored yet
  bool reversed = false;                  ///< the batch holds the runs in reverse order
  /// Only these rows, ascending, in one run; the results of others are 0. Empty: all rows. Not together with
  /// `chunks`.
  std::vector<std::int32_t> rows = {};
  bool observed = true;  ///< the attention mass is asked for; some devices use other kernels then
};

struct SceneResult {
  std::vector<float> out;  ///< [rows][queryHeads · headSize]
  /// The attention mass of all passes, in the order of the rows. `run` counts chunks.
  std::vector<compute::RunMass> mass;
};

/// Runs a scene on a backend. Slots that the scene does not fill hold NaN.
SceneResult runScene(compute::Backend& backend, const Scene& scene, const Presentation& presentation = {});

/// Bounds of the error in this scene, for arithmetic in f32 on tensors with unit round-off `unit`.
double outTolerance(const Scene& scene, double unit = 0x1p-24);
double weightTolerance(const Scene& scene, double unit = 0x1p-24);

}  // namespace spanscope::testing
