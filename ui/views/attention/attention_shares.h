// SPDX-License-Identifier: GPL-3.0-or-later
// Answers "Where did the answer look?": how its attention is divided among the parts of the prompt.
#pragma once

#include "ui/session/answer_shares.h"
#include "ui/session/view_input.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

/// Which bars are shown beside the sources.
struct ShareOptions {
  bool own = false;   ///< question, template, reply, and other text of the prompt that is no source
  bool sink = false;  ///< first tokens of segments, at which models look when they look for nothing
  bool operator==(const ShareOptions&) const = default;
};

enum class ShareKind : std::uint8_t { Source, Context, Own, Sink };

struct ShareBar {
  ShareKind kind = ShareKind::Source;
  std::uint32_t part = 0;  ///< of the prompt; no meaning for a sink
  QString name;
  std::size_t hue = 0;  ///< for Theme::segmentInk
  document::NodeId id = document::kNoNode;
  double share = 0;       ///< its share of all bars together, 0 … 1; see ShareModel::ofSquares
  double mass = 0;        ///< its part of all attention, 0 … 1
  bool isTop = false;     ///< the bar stands out: it is one of the largest, and well above an even division
  bool selected = false;  ///< its node, or a block or token of it, is selected
  bool operator==(const ShareBar&) const = default;
};

struct ShareModel {
  RequestId request = 0;  ///< 0: nothing is known
  RunId run = 0;
  std::size_t tokens = 0;        ///< tokens of the answer that were added up
  std::optional<QString> token;  ///< the selected token of the answer, if only that one is shown
  std::vector<ShareBar> bars;    ///< in prompt order
  /// Whether the parts of the bars are computed from squared attention, in which one strong look counts more
  /// than many weak ones. If false, they are parts of plain attention.
  bool ofSquares = false;
  double sources = 0;  ///< part of all attention on sources, 0 … 1; without first tokens, if those are known
  double rest = 0;     ///< part on question, reply and other text
  std::optional<double> sink;  ///< part on first tokens; none: they were not recorded separately
  double beside = 0;           ///< part on replies written at the same time
  bool operator==(const ShareModel&) const = default;

  bool isEmpty() const { return bars.empty(); }
};

/// The shares of the shown request, or of the selected token of its answer.
ShareModel shareModel(const ViewInput& input, const ShareOptions& options = {});

/// The bars that stand out, the largest first: "document 7 (41 %), document 3 (22 %)".
QString topText(const ShareModel& model);
/// "The answer looked at document 7 (41 %), …"
QString shareSentence(const ShareModel& model);
/// "Strong looks count most (squares). Of all attention: sources 31 %, other text 22 %, first tokens …"
QString shareNote(const ShareModel& model);
/// "document 7: 41 %, strong looks counting most; 0.13 of all attention"
QString shareTip(const ShareModel& model, std::size_t bar);
/// Lines to append to the table of attentionCsv().
QString shareCsv(const ShareModel& model);

}  // namespace spanscope::ui
