// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/view_input.h"

#include "ui/session/run_list.h"

namespace spanscope::ui {

document::NodeId ViewInput::nodeOf(RunId run, const NodePath& path) const {
  const auto found = paths.find(run);
  if (found == paths.end()) return document::kNoNode;
  const document::NodeId node = found->second.nodeOf(path);
  return document->contains(node) ? node : document::kNoNode;
}

QString ViewInput::keyOf(const QString& command) const {
  if (!keys) return {};
  const auto found = keys->find(command);
  return found == keys->end() ? QString() : found->second;
}

QString ViewInput::keyHint(const QString& command) const {
  const QString key = keyOf(command);
  return key.isEmpty() ? key : QStringLiteral(" (%1)").arg(key);
}

std::shared_ptr<const SegmentIdentities> ViewInput::partIdentities() const {
  if (identities) return identities;
  return std::make_shared<const SegmentIdentities>(SegmentRecords().read(*document, *trace, paths));
}

RequestId ViewInput::shownRequest() const {
  const auto& requests = state().progress().requests;
  // A selected request, token or block has priority, because such an item belongs to one request. A node may
  // belong to several requests.
  for (const RequestId id : {selection.request.value_or(0), selection.token ? selection.token->request : 0,
                             selection.block ? selection.block->request : 0}) {
    if (id != 0 && requests.contains(id)) return id;
  }

  RequestId last = 0;
  RequestId own = 0;
  RequestId ofNode = 0;
  const document::NodeId wanted = selection.currentNode();
  for (const auto& [id, request] : requests) {
    // A failed request without a prompt has no tokens. The tokens of an earlier request would be wrong.
    const bool hasFailed = request.outcome == trace::StepOutcome::Failed;
    if ((request.segments.empty() && !hasFailed) || isOfOther(*this, request.run)) continue;
    last = id;
    if (paths.contains(request.run)) own = id;
    if (wanted != document::kNoNode && nodeOf(request.run, request.node) == wanted) ofNode = id;
  }
  if (ofNode != 0) return ofNode;
  return own != 0 ? own : last;
}

}  // namespace spanscope::ui
