// SPDX-License-Identifier: GPL-3.0-or-later
// A rotation (RoPE) in numbers. RotationModel has one query vector and one key of a layer and head, rotated
// by their positions. The score of both depends only on the difference of the positions.
#pragma once

#include "engine/jobs/pair_vectors.h"
#include "ui/session/view_input.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

struct RotationOptions {
  std::optional<TokenRef> query;  ///< chosen by the user. Nothing: the last token of the prompt.
  std::int32_t layer = 0;
  std::int32_t head = 0;
  std::optional<std::size_t> pair;  ///< of elements. Nothing: the pair with most of the score.
  /// Start position of the key's segment in the last drawing, chosen by the user. Nothing: where the key's
  /// block was stored, or an invented position.
  std::optional<std::int64_t> start;
};

/// One way to rotate query vector and key.
struct RotationWay {
  QString title;                   ///< "as stored"
  QString what;                    ///< how both are rotated, in words
  std::int64_t queryRotation = 0;  ///< in positions
  std::int64_t keyRotation = 0;
  double score = 0;        ///< score of all pairs of elements
  run::RotatedPair shown;  ///< the pair of elements that is drawn
};

struct RotationModel {
  jobs::PairChoice choice;  ///< request 0: there is no pair of tokens
  QString queryName;        ///< "“site” of question"
  QString keyName;
  std::size_t queryHue = 0;
  std::size_t keyHue = 0;
  std::int64_t queryPosition = 0;
  std::int64_t base = 0;  ///< position of local token 0 of the key's segment
  std::int32_t keyLocal = 0;
  QString reason;   ///< why the rotation cannot be computed now; empty: computing is possible
  QString problem;  ///< why the computation failed
  bool isRunning = false;
  /// The forward pass that computes the query vector is after the current moment, so there is no vector to
  /// draw.
  bool isAhead = false;
  bool isComputed = false;  ///< the following members are valid
  std::int32_t layers = 0;
  std::int32_t heads = 0;
  std::int32_t layer = 0;
  std::int32_t head = 0;
  std::size_t pair = 0;
  double weight = 0;  ///< attention weight of the key in the forward pass
  /// The pairs as stored. The key is rotated by `keyLocal`, and the query vector by `queryPosition` − `base`.
  std::vector<run::RotatedPair> pairs;
  std::vector<RotationWay> places;  ///< the first is as stored, the last has the start position `start`
  std::int64_t start = 0;           ///< start position of the key's segment in the last drawing
  std::int64_t lastStart = 0;       ///< the largest start position that the user can choose
};

RotationModel rotationModel(const ViewInput& input, const RotationOptions& options);

/// Whether there are vectors to draw at the current moment.
bool isRotationDrawn(const RotationModel& model);
/// The sentence below the drawing, which explains the numbers. Without a drawing, the sentence announces the
/// drawing and gives the known angles. Empty without a pair.
QString rotationSentence(const RotationModel& model);
/// The angle of this number of positions at a frequency (radians per position), in degrees, 0 … 360.
double degreesOf(double frequency, std::int64_t positions);
QString rotationCsv(const RotationModel& model);

}  // namespace spanscope::ui
