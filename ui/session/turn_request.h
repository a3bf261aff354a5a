// SPDX-License-Identifier: GPL-3.0-or-later
// A person can ask for the query of one token and the key of another one. This file says what the engine is
// asked for, why it cannot be asked now, and what came of it.
#pragma once

#include "engine/run/pair_vectors.h"
#include "engine/trace/sight.h"

#include <QString>

#include <memory>

namespace spanscope::ui {

struct ViewInput;

/// Two tokens of one request.
struct TurnChoice {
  RequestId request = 0;
  trace::TokenPlace query;  ///< the token that looks
  trace::TokenPlace key;    ///< the token that is looked at
  bool operator==(const TurnChoice&) const = default;
};

/// What is known of a choice: it is being computed, failed, or is there.
struct TurnResult {
  TurnChoice choice;
  bool isRunning = false;
  QString problem;                                  ///< why it failed; empty: it did not
  std::shared_ptr<const run::PairVectors> vectors;  ///< null: not there
};

/// Why the pair cannot be computed now, as a sentence. Empty if it can.
QString turnObstacle(const ViewInput& input, const TurnChoice& choice);

}  // namespace spanscope::ui
