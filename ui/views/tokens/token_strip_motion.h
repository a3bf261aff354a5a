// SPDX-License-Identifier: GPL-3.0-or-later
// Motion in the token strip between two events. Tokens of reused blocks come from the position at which they
// were stored.
#pragma once

#include "ui/session/moment.h"
#include "ui/views/tokens/token_strip_model.h"

#include <QString>

#include <cstddef>
#include <vector>

namespace spanscope::ui {

struct TokenTravel {
  std::size_t from = 0;  ///< index of the token at the position where the moved token was stored
  std::size_t to = 0;
  bool operator==(const TokenTravel&) const = default;
};

struct StripMotion {
  TokenStrip before;                   ///< the strip at the start of the motion
  std::vector<TokenTravel> travels;    ///< ascending by `to`
  std::vector<std::size_t> computing;  ///< tokens in the current forward pass, ascending
  QString note;                        ///< describes the travels; empty without travels

  /// The token at the start of the motion; nullptr if it did not exist.
  const StripToken* tokenBefore(const TokenStrip& now, std::size_t token) const;
  bool travelsTo(std::size_t token) const;
  bool isComputing(std::size_t token) const;
};

/// The motion at this moment, which must belong to the input's position. `strip`: the strip at this position.
StripMotion stripMotion(const ViewInput& input, const Moment& moment, const TokenStrip& strip);

}  // namespace spanscope::ui
