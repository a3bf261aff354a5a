// SPDX-License-Identifier: GPL-3.0-or-later
// The shown request's prompt and answer as tokens, block by block.
#pragma once

#include "ui/session/view_input.h"
#include "ui/theme/theme.h"
#include "ui/views/common/segment_names.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

/// What a token is to the layout of its run.
enum class StripPart : std::uint8_t {
  Own,      ///< of the prompt or the reply
  Pad,      ///< fills up a block
  Marker,   ///< begins what stands under a plus, or the last child of a cross
  Cropped,  ///< is not there: the layout took it away
};

struct StripToken {
  TokenRef place;
  QString text;             ///< as it is painted: "Mira", "‹user›"
  std::size_t segment = 0;  ///< index in TokenStrip::segments
  bool joined = false;      ///< continues the word before it: no space between them
  bool quiet = false;       ///< of the chat template
  bool generated = false;
  StripPart part = StripPart::Own;
  /// Of a cropped one, which has no place of its own: `place` is that of the token before it, else of the one
  /// behind.
  TokenId cropped = -1;
  bool recomputed = false;    ///< in view of the whole prompt, in place of what was copied
  bool computed = true;       ///< a pass has seen it, so a block holds it
  std::int64_t position = 0;  ///< in the view
  std::int32_t block = -1;    ///< number of its block in the view; −1: none holds it
  BlockId physical = kNullBlock;
  BlockRole role = BlockRole::Free;  ///< how its key and value came to be there
  bool opensBlock = false;
  std::int32_t tail = 0;  ///< it ends a block that is filled so far only; 0: it does not
  float probability = 0;  ///< of a generated one
  /// Of a generated one: what it read of the source that is selected, of all it read from sources; −1: not
  /// known, or none is selected.
  double looked = -1;
  bool operator==(const StripToken&) const = default;
};

struct StripSegment {
  std::uint32_t segment = 0;  ///< index in the span table
  QString name;
  std::size_t hue = 0;
  std::size_t first = 0;  ///< token
  std::size_t count = 0;  ///< tokens
  bool operator==(const StripSegment&) const = default;
};

struct TokenStrip {
  RequestId request = 0;  ///< 0: there is none
  RunId run = 0;
  std::int32_t blockSize = 16;
  std::vector<StripSegment> segments;
  std::vector<StripToken> tokens;
  std::size_t recomputed = 0;  ///< tokens that the policy computed again
  std::size_t prompt = 0;      ///< tokens of the prompt, cropped ones included; those after it are generated
  std::size_t cropped = 0;     ///< of those, the ones that the layout took away
  std::int32_t fullBlocks = 0;
  std::int32_t tails = 0;
  QString layout;                       ///< of the run, by its name; empty: the exact one
  QString summary;                      ///< "204 tokens · 11 full blocks · 4 tails"
  std::optional<std::size_t> lookedAt;  ///< index in `segments` of the source that is selected
  double mostLooked = 0;                ///< the largest StripToken::looked
  bool operator==(const TokenStrip&) const = default;
};

/// Hidden segments and prefixes are left out.
TokenStrip tokenStrip(const ViewInput& input);

/// The token that is selected, else the first one of the selected block; tokens.size(): none.
std::size_t selectedToken(const TokenStrip& strip, const Selection& selection);

/// What a tool tip says of a token.
QString tokenTip(const ViewInput& input, const TokenStrip& strip, std::size_t token);

QString tokenStripCsv(const ViewInput& input, const TokenStrip& strip);

}  // namespace spanscope::ui
