// SPDX-License-Identifier: GPL-3.0-or-later
// The algebra of a turn: one query and one key of a layer and head, turned by their positions, and the score
// that hangs on the difference of these alone.
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
  std::optional<TokenRef> query;  ///< that a person has kept; nothing: the last token of the prompt
  std::int32_t layer = 0;
  std::int32_t head = 0;
  std::optional<std::size_t> pair;  ///< of elements; nothing: the one that adds most to the score
};

/// One way in which query and key can be turned.
struct RotationWay {
  QString title;                   ///< "as stored"
  QString what;                    ///< what is turned by what, in a sentence
  std::int64_t queryRotation = 0;  ///< positions
  std::int64_t keyRotation = 0;
  double score = 0;        ///< of all pairs of elements
  run::RotatedPair shown;  ///< the pair of elements that is drawn
};

struct RotationModel {
  jobs::PairChoice choice;  ///< request 0: there is no pair of tokens
  QString queryName;        ///< "token 3, “site”, of question"
  QString keyName;
  std::size_t queryHue = 0;
  std::size_t keyHue = 0;
  std::int64_t queryPosition = 0;
  std::int64_t base = 0;  ///< position of local token 0 of the key's segment
  std::int32_t keyLocal = 0;
  QString reason;   ///< why it cannot be computed now; empty: it can
  QString problem;  ///< why it failed
  bool isRunning = false;
  /// At the moment in view, the pass of the run that computes the query is still to come: there is no query
  /// to be drawn.
  bool isAhead = false;
  bool isComputed = false;  ///< what follows is there
  std::int32_t layers = 0;
  std::int32_t heads = 0;
  std::int32_t layer = 0;
  std::int32_t head = 0;
  std::size_t pair = 0;
  double weight = 0;                    ///< the attention weight that the pass gave the key
  std::vector<run::RotatedPair> pairs;  ///< as stored: the key by its local index, the query by the rest
  std::vector<RotationWay> places;      ///< the first is as stored
};

RotationModel rotationModel(const ViewInput& input, const RotationOptions& options);

/// Whether there is something to be drawn at the moment in view.
bool isRotationDrawn(const RotationModel& model);
/// The words around the drawing: what the numbers say; where nothing is drawn, what will be, and what of it
/// is known already. Empty without a pair.
QString rotationSentence(const RotationModel& model);
/// An angle in degrees, 0 … 360, of so many positions at a frequency.
double degreesOf(double frequency, std::int64_t positions);
QString rotationCsv(const RotationModel& model);

}  // namespace spanscope::ui
