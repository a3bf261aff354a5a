// SPDX-License-Identifier: GPL-3.0-or-later
// "Where did the answer look?": how its attention is divided among the segments of the prompt.
#pragma once

#include "ui/session/answer_shares.h"
#include "ui/session/view_input.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

/// What stands beside the sources.
struct ShareOptions {
  bool own = false;   ///< question, template and reply, and other text of the prompt that is no source
  bool sink = false;  ///< first tokens of segments, which models look at when they look for nothing
  bool operator==(const ShareOptions&) const = default;
};

enum class ShareKind : std::uint8_t { Source, Context, Own, Sink };

struct ShareBar {
  ShareKind kind = ShareKind::Source;
  std::uint32_t segment = 0;              ///< of a sink: none
  std::optional<std::uint32_t> linked{};  ///< its beginning that was computed again, a segment of its own
  QString name;
  std::size_t hue = 0;  ///< for Theme::segmentInk
  document::NodeId id = document::kNoNode;
  double part = 0;        ///< of what all bars together have, 0 … 1; see ShareModel::ofSquares
  double mass = 0;        ///< of all attention, 0 … 1
  bool isTop = false;     ///< stands out: one of the largest, and well above an even division
  bool selected = false;  ///< its node, a block or a token of it is selected
  bool operator==(const ShareBar&) const = default;
};

struct ShareModel {
  RequestId request = 0;  ///< 0: nothing is known
  RunId run = 0;
  std::size_t tokens = 0;        ///< that were added up
  std::optional<QString> token;  ///< the one token of the answer that is selected, where it alone is shown
  std::vector<ShareBar> bars;    ///< in prompt order
  /// Their parts are not of plain attention: a strong look counts more than many weak ones.
  bool ofSquares = false;
  double sources = 0;          ///< of all attention, 0 … 1; without first tokens where those are known
  double rest = 0;             ///< of question, reply and other text
  std::optional<double> sink;  ///< of first tokens; none: not recorded apart
  double beside = 0;           ///< of replies that were written beside it
  bool operator==(const ShareModel&) const = default;

  bool isEmpty() const { return bars.empty(); }
};

/// Of the shown request, or of the one token of its answer that is selected.
ShareModel shareModel(const ViewInput& input, const ShareOptions& options = {});

/// "document 7 (41 %), document 3 (22 %)": the bars that stand out, the largest first.
QString topText(const ShareModel& model);
/// "The answer looked at document 7 (41 %), …"
QString shareSentence(const ShareModel& model);
/// "Strong looks count most (squares). Of all attention: sources 31 %, other text 22 %, first tokens …"
QString shareNote(const ShareModel& model);
/// "document 7: 41 %, strong looks counting most; 0.13 of all attention"
QString shareTip(const ShareModel& model, std::size_t bar);
/// Lines for attentionCsv()'s table.
QString shareCsv(const ShareModel& model);

}  // namespace spanscope::ui
