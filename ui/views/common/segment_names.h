// SPDX-License-Identifier: GPL-3.0-or-later
// What people call the segments of a span table and the nodes of a run; the same in every view.
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
  QString name;         ///< "system", "document 1", "question", or what the person calls the node
  std::size_t hue = 0;  ///< for Theme::segmentInk and its pattern: the part's own, wherever it stands
  bool hidden = false;  ///< stands in nobody's view
  bool linked = false;  ///< the beginning of the next segment, which was computed again
  bool operator==(const SegmentName&) const = default;
};

/// One entry a segment. A name that the node has in the document goes first; else the role of the node. A
/// document has the number of its identity, in every run; other roles have a counter where several segments
/// have them. Where the beginning of a document was computed again, that is a segment "…, linked" before it;
/// where a copy of it stands in the prompt, the hidden segment that was copied is "…, stored".
std::vector<SegmentName> segmentNames(const ViewInput& input, RunId run,
                                      const std::vector<trace::SegmentInfo>& segments);

/// The same for a prompt of the document's next run.
std::vector<SegmentName> segmentNames(const ViewInput& input, const Forecast& forecast,
                                      const layout::SpanTable& table);

/// What a node of a run is called: its name in the document, else its operator ("generate", "user", …).
QString nodeName(const ViewInput& input, RunId run, const NodePath& path);

/// What tells a request from the others of its run: "step 1", "step 1, copy 2"; empty where it is the only
/// one.
QString requestDetail(const trace::Replay& state, RequestId request);

/// "run 2", or with several requests in the run "run 2, step 1" and its copy where there are several.
QString requestName(const trace::Replay& state, RequestId request);

}  // namespace spanscope::ui
