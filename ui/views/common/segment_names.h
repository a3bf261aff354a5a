// SPDX-License-Identifier: GPL-3.0-or-later
// Names for the segments of a span table and the nodes of a run, the same in every view.
#pragma once

#include "engine/base/ids.h"
#include "engine/layout/span_table.h"
#include "engine/trace/event.h"
#include "ui/session/view_input.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::ui {

struct SegmentName {
  QString name;         ///< "system", "document 1", "question", or the name that the person gave the node
  std::size_t hue = 0;  ///< for Theme::segmentInk and its pattern; the part has it wherever it stands
  bool hidden = false;  ///< no row sees the segment
  bool linked = false;  ///< it is the beginning of the next segment, computed again (policy link)
  bool operator==(const SegmentName&) const = default;
};

/// Returns one name for each segment. If the node has a name in the document, that is it; else the role of
/// the node. A document and a part have the number of their identity, the same in every run. Other roles are
/// numbered if several segments have them. If the beginning of a document was computed again, it is a segment
/// before the document, named "…, linked". If the prompt holds a copy of a stored segment, the stored one is
/// hidden and named "…, stored".
std::vector<SegmentName> segmentNames(const ViewInput& input, RunId run,
                                      const std::vector<trace::SegmentInfo>& segments);

/// The same for a prompt of the next run.
std::vector<SegmentName> segmentNames(const ViewInput& input, const Forecast& forecast,
                                      const layout::SpanTable& table);

/// The name of a node of a run: its name in the document, else its operator ("generate", "user", …).
QString nodeName(const ViewInput& input, RunId run, const NodePath& path);

/// Tells a request from the others of its run: "step 1", "step 1, copy 2". Empty if it is the only one.
QString requestDetail(const trace::Replay& state, RequestId request);

/// "run 2". If the run has several requests, requestDetail() follows: "run 2, step 1, copy 2".
QString requestName(const trace::Replay& state, RequestId request);

}  // namespace spanscope::ui
