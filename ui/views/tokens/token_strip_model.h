// SPDX-License-Identifier: GPL-3.0-or-later
// The shown request's prompt and answer as tokens, section by section. Open this file for the facts about a
// token: its block, its positions and its attention.
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

/// The role of a token in the layout of its run.
enum class StripPart : std::uint8_t {
  Own,      ///< token of the prompt or the answer
  Pad,      ///< fills up a block
  Marker,   ///< begins a child of a plus, or the last child of a cross
  Cropped,  ///< the layout removed the token, so the token is not in the prompt
};

struct StripToken {
  TokenRef place;
  QString text;             ///< text as it is painted: "Mira", "‹user›"
  std::size_t segment = 0;  ///< index in TokenStrip::segments
  bool joined = false;      ///< the token continues the previous word, without a space
  bool quiet = false;       ///< the token belongs to the chat template
  bool generated = false;
  StripPart part = StripPart::Own;
  /// Id of a cropped token; −1: the token is not cropped. A cropped token has no place in the prompt.
  /// The `place` of a cropped token is the place of the token before, or else of the token after.
  TokenId cropped = -1;
  bool recomputed = false;  ///< the token was recomputed with all earlier tokens, and replaces a copied token
  bool computed = true;     ///< a forward pass has computed the token, so a block contains it
  std::int64_t position = 0;  ///< in the view.
  /// The position at which its key and value were stored, for a reused token; −1: not reused, or not known.
  std::int64_t storedAt = -1;
  std::int32_t block = -1;  ///< number of its block in the view; −1: no block contains it
  BlockId physical = kNullBlock;
  BlockRole role = BlockRole::Free;  ///< how its key and value came into the block
  bool opensBlock = false;
  std::int32_t tail = 0;  ///< tokens of the partial block that this token ends; 0: no such block
  float probability = 0;  ///< for a generated token.
  /// Attention that the bar under the token shows, as a share of all attention, 0 … 1; −1: not known. A
  /// generated token attends to the selected source, or to all sources if none is selected.
  double looked = -1;
  bool operator==(const StripToken&) const = default;
};

/// A section of the prompt; see RequestParts.
struct StripSegment {
  std::uint32_t part = 0;  ///< index in RequestParts
  QString name;
  std::size_t hue = 0;
  document::NodeId id = document::kNoNode;
  std::size_t first = 0;  ///< index of the first token
  std::size_t count = 0;  ///< number of tokens
  QString facts{};        ///< "20 tokens · positions 13–32 · stored at 31–50"
  bool isPale = false;    ///< less important in this strip, so the tiles have no fill
  bool operator==(const StripSegment&) const = default;
};

struct TokenStrip {
  RequestId request = 0;  ///< 0: there is none
  RunId run = 0;
  std::int32_t blockSize = 16;
  std::vector<StripSegment> segments;
  std::vector<StripToken> tokens;
  std::int64_t beside = 0;     ///< tokens that the engine also counts; see RequestAccount::beside()
  std::size_t recomputed = 0;  ///< tokens that the policy recomputed
  /// The number of prompt tokens, including cropped ones. Later tokens are generated.
  std::size_t prompt = 0;
  std::size_t cropped = 0;  ///< the number of cropped tokens in the prompt
  std::int32_t fullBlocks = 0;
  std::int32_t tails = 0;
  QString layout;                       ///< name of the run's layout; empty: the exact layout
  QString summary;                      ///< "204 tokens · 11 full blocks · …"
  QString answerFacts;                  ///< as StripSegment::facts, for the generated tokens
  std::optional<std::size_t> lookedAt;  ///< index in `segments` of the selected source
  double mostLooked = 0;                ///< the attention of a whole bar; 0: there are no bars.
  /// Whether the strip shows blocks, positions, and how the cache served each token.
  bool showsCache = true;
  bool operator==(const TokenStrip&) const = default;
};

/// The tokens of the shown request, without hidden segments and prefixes.
TokenStrip tokenStrip(const ViewInput& input);

/// The selected token, else the first token of the selected block; tokens.size(): none.
std::size_t selectedToken(const TokenStrip& strip, const Selection& selection);

/// The tool tip of a token.
QString tokenTip(const ViewInput& input, const TokenStrip& strip, std::size_t token);

QString tokenStripCsv(const ViewInput& input, const TokenStrip& strip);

}  // namespace spanscope::ui
