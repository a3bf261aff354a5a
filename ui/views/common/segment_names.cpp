// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/segment_names.h"

#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "engine/query/query.h"
#include "engine/run/trace_values.h"
#include "ui/operators/operator_table.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace spanscope::ui {
namespace {

/// Finds the nodes of a run or of the next run: in the document if it knows them, else in the query that was
/// or will be run.
class RunNodes {
 public:
  RunNodes(const ViewInput& input, RunId run) : m_input(input), m_run(run) {}
  RunNodes(const ViewInput& input, const Forecast& forecast) : m_input(input), m_forecast(&forecast) {}

  const document::DocumentNode* inDocument(const NodePath& path) const {
    const document::NodeId id =
        m_forecast != nullptr ? m_forecast->paths.nodeOf(path) : m_input.nodeOf(m_run, path);
    return id == document::kNoNode ? nullptr : m_input.document->find(id);
  }

  /// The node at a path; nullptr if neither knows the path.
  const query::Node* find(const NodePath& path) {
    if (const document::DocumentNode* node = inDocument(path)) return &node->own;
    if (!m_read) {
      m_read = true;
      m_query = query::parseJson(queryJson()).query;
    }
    return m_query ? query::nodeAt(*m_query, path) : nullptr;
  }

 private:
  std::string queryJson() const {
    if (m_forecast != nullptr) return m_forecast->queryJson;
    const auto& runs = m_input.state().progress().runs;
    const auto run = runs.find(m_run);
    return run == runs.end() ? std::string() : *run->second.queryJson;
  }

  const ViewInput& m_input;
  RunId m_run = 0;
  const Forecast* m_forecast = nullptr;
  bool m_read = false;
  std::optional<query::Node> m_query;
};

QString operatorLabel(const query::Node& node) {
  return ui::operatorLabel(query::operatorName(node));
}

bool holdsOutput(const std::vector<trace::SegmentInfo>& segments, const trace::PromptParts& parts,
                 std::uint32_t part) {
  for (const trace::PartRange& range : parts.visible()) {
    if (range.part != part) continue;
    std::int32_t begin = 0;
    for (const trace::TokenRunInfo& run : segments[range.segment].runs) {
      const std::int32_t end = begin + run.count;
      const bool isThere = std::max(begin, range.begin) < std::min(end, range.end);
      if (isThere && run.source == trace::TokenSource::Output) return true;
      begin = end;
    }
  }
  return false;
}

bool isText(const query::Node* node) {
  return node == nullptr || query::infoOf(*node).gives == query::Gives::Text || query::isSugar(*node) ||
         query::documentOf(*node) != nullptr;
}

QString roleOf(bool inPlus, bool isAnswer, const query::Node* node, bool only, bool last) {
  if (inPlus && isAnswer) return tr("answer");
  if (inPlus) return isText(node) ? tr("document") : tr("part");
  if (only) return tr("prompt");
  const query::Message* message = node == nullptr ? nullptr : node->as<query::Message>();
  if (last && (message == nullptr || message->role == query::Role::User)) return tr("question");
  if (isAnswer) return tr("answer");
  return node == nullptr ? tr("part") : operatorLabel(*node);
}

/// Whether this segment is the beginning of the next one, computed again (policy link). The next segment
/// begins with the same tokens, but others see them here and not there.
bool isLinked(const std::vector<trace::SegmentInfo>& segments, std::size_t index) {
  if (index + 1 >= segments.size()) return false;
  const trace::SegmentInfo& segment = segments[index];
  const trace::SegmentInfo& rest = segments[index + 1];
  std::int64_t end = segment.base;
  for (const trace::TokenRunInfo& run : segment.runs) end += run.count;
  return !segment.hidden && segment.visibleBegin == 0 && rest.visibleBegin > 0 && segment.depth > 0 &&
         segment.scope == rest.scope && segment.node == rest.node && rest.base + rest.visibleBegin == end;
}

/// Gives the identity of the part that holds a path; nullptr: it is not known.
using IdentityOf = std::function<const SegmentIdentity*(const NodePath&)>;

/// "document 3", with the part's own number, wherever the part stands. Empty if its role is numbered by a
/// counter.
QString numberedName(const QString& role, const SegmentIdentity* identity, const SegmentIdentities& all) {
  if (identity == nullptr) return {};
  const bool isDocument = identity->kind == PartKind::Document && role == tr("document");
  const bool isPart = identity->kind == PartKind::Part && role == tr("part");
  if (!isDocument && !isPart) return {};
  return all.count(identity->kind) < 2 ? role : tr("%1 %2").arg(role).arg(identity->number + 1);
}

std::vector<PartName> partNamesOf(const std::vector<trace::SegmentInfo>& segments,
                                  const trace::PromptParts& parts, RunNodes& nodes,
                                  const SegmentIdentities& all, const IdentityOf& identityOf) {
  std::vector<PartName> names(parts.size());
  std::vector<std::uint32_t> order;  // the visible parts in the order in which they begin
  for (const trace::PartRange& range : parts.visible()) {
    if (std::find(order.begin(), order.end(), range.part) == order.end()) order.push_back(range.part);
  }
  std::map<const SegmentIdentity*, std::size_t> copies;
  std::map<QString, std::vector<std::uint32_t>> byRole;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const std::uint32_t part = order[place];
    const trace::PartInfo& info = parts.info(part);
    PartName& own = names[part];
    own.hue = place;
    const SegmentIdentity* identity = identityOf(info.node);
    if (identity != nullptr) own.hue = identity->hue + std::min(copies[identity]++, identity->copies - 1);
    const document::DocumentNode* node = nodes.inDocument(info.node);
    if (node != nullptr && !node->name.empty()) {
      own.name = QString::fromStdString(node->name);
      continue;
    }
    own.name = roleOf(info.inPlus, holdsOutput(segments, parts, part), nodes.find(info.node),
                      order.size() == 1, place + 1 == order.size());
    const QString numbered = numberedName(own.name, identity, all);
    if (!numbered.isEmpty()) {
      own.name = numbered;
    } else {
      byRole[own.name].push_back(part);
    }
  }
  for (const auto& [role, places] : byRole) {
    if (places.size() < 2) continue;
    for (std::size_t n = 0; n < places.size(); ++n) names[places[n]].name = tr("%1 %2").arg(role).arg(n + 1);
  }
  return names;
}

/// The parts of which a segment shows tokens, in view order.
std::vector<std::uint32_t> partsOf(const trace::PromptParts& parts, std::size_t segment) {
  std::vector<std::uint32_t> found;
  for (const trace::PartRange& range : parts.visible()) {
    if (range.segment == segment && (found.empty() || found.back() != range.part))
      found.push_back(range.part);
  }
  return found;
}

std::vector<SegmentName> segmentNamesOf(const std::vector<trace::SegmentInfo>& segments,
                                        const RequestParts& request) {
  std::vector<SegmentName> names(segments.size());
  for (std::size_t i = 0; i < segments.size(); ++i) {
    SegmentName& own = names[i];
    own.hidden = segments[i].hidden;
    const std::vector<std::uint32_t> parts = partsOf(request.parts, i);
    if (own.hidden) {
      own.name = tr("hidden prefix");
    } else if (parts.size() == 1) {
      own.name = request.names[parts.front()].name;
      own.hue = request.names[parts.front()].hue;
    } else if (!parts.empty()) {
      own.name = tr("%1 to %2").arg(request.names[parts.front()].name, request.names[parts.back()].name);
      own.hue = request.names[parts.front()].hue;
    }
  }
  for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
    if (const auto copy = trace::copyOf(segments, i)) {
      names[i].name = tr("%1, stored").arg(names[*copy].name);
      names[i].hue = names[*copy].hue;
    }
    if (!isLinked(segments, i)) continue;
    names[i + 1].name = names[i].name;
    names[i + 1].hue = names[i].hue;
    names[i].linked = true;
    names[i].name = tr("%1, linked").arg(names[i].name);
  }
  return names;
}

/// The fields of a segment on which names depend.
trace::SegmentInfo infoOf(const layout::Segment& segment) {
  trace::SegmentInfo info;
  info.node = segment.node;
  info.independent = segment.independent;
  info.hidden = segment.hidden;
  info.scope = segment.scope;
  info.depth = segment.depth;
  info.base = segment.base;
  info.visibleBegin = segment.visibleBegin;
  info.tokens.resize(segment.tokens.size());
  for (const layout::TokenRun& run : segment.runs) {
    const bool isOutput = run.source == layout::TokenRun::Source::Output;
    info.runs.push_back({.count = run.count,
                         .source = isOutput ? trace::TokenSource::Output : trace::TokenSource::Text,
                         .node = run.node});
  }
  return info;
}

}  // namespace

QString RequestParts::nameOf(std::uint32_t segment, std::int32_t begin, std::int32_t end) const {
  QStringList found;
  for (const trace::PartRange& range : parts.visible()) {
    if (range.segment != segment || std::max(range.begin, begin) >= std::min(range.end, end)) continue;
    if (found.isEmpty() || found.back() != names[range.part].name) found << names[range.part].name;
  }
  if (found.isEmpty()) {
    const auto part = parts.partAt(segment, begin);
    return part ? names[*part].name : QString();
  }
  return found.size() == 1 ? found.front() : tr("%1 and %2").arg(found.front(), found.back());
}

RequestParts requestParts(const ViewInput& input, RequestId request) {
  RequestParts result;
  const auto& requests = input.state().progress().requests;
  const auto found = requests.find(request);
  if (found == requests.end()) return result;
  const RunId run = found->second.run;
  const auto all = input.partIdentities();
  RunNodes nodes(input, run);
  result.parts = promptParts(input, request);
  result.names = partNamesOf(found->second.segments, result.parts, nodes, *all,
                             [&](const NodePath& path) { return all->ofRun(run, path); });
  for (std::size_t part = 0; part < result.names.size(); ++part)
    result.names[part].id = input.nodeOf(run, result.parts.info(part).node);
  return result;
}

RequestParts requestParts(const ViewInput& input, const Forecast& forecast, const layout::SpanTable& table) {
  RequestParts result;
  std::vector<trace::SegmentInfo> segments;
  segments.reserve(table.segments.size());
  for (const layout::Segment& segment : table.segments) segments.push_back(infoOf(segment));
  const trace::PromptDivided divided = run::partsEvent(table);
  const auto all = input.partIdentities();
  RunNodes nodes(input, forecast);
  result.parts = trace::PromptParts(segments, &divided);
  result.names = partNamesOf(segments, result.parts, nodes, *all,
                             [&](const NodePath& path) { return all->ofNode(forecast.paths.nodeOf(path)); });
  for (std::size_t part = 0; part < result.names.size(); ++part)
    result.names[part].id = forecast.paths.nodeOf(result.parts.info(part).node);
  return result;
}

std::vector<SegmentName> segmentNames(const ViewInput& input, RequestId request) {
  const auto& requests = input.state().progress().requests;
  const auto found = requests.find(request);
  if (found == requests.end()) return {};
  return segmentNamesOf(found->second.segments, requestParts(input, request));
}

std::vector<SegmentName> segmentNames(const ViewInput& input, const Forecast& forecast,
                                      const layout::SpanTable& table) {
  std::vector<trace::SegmentInfo> segments;
  segments.reserve(table.segments.size());
  for (const layout::Segment& segment : table.segments) segments.push_back(infoOf(segment));
  return segmentNamesOf(segments, requestParts(input, forecast, table));
}

QString nodeName(const ViewInput& input, RunId run, const NodePath& path) {
  RunNodes nodes(input, run);
  const document::DocumentNode* node = nodes.inDocument(path);
  if (node != nullptr && !node->name.empty()) return QString::fromStdString(node->name);
  const query::Node* own = nodes.find(path);
  return own == nullptr ? tr("node") : operatorLabel(*own);
}

QString requestDetail(const trace::Replay& state, RequestId request) {
  const auto& requests = state.progress().requests;
  const auto found = requests.find(request);
  if (found == requests.end()) return {};
  const trace::RequestState& own = found->second;
  const auto run = state.progress().runs.find(own.run);
  if (run == state.progress().runs.end() || run->second.requests.size() < 2) return {};
  const auto copies =
      std::count_if(run->second.requests.begin(), run->second.requests.end(), [&](RequestId other) {
        const auto sibling = requests.find(other);
        return sibling != requests.end() && sibling->second.node == own.node;
      });
  const QString step = tr("step %1").arg(own.step + 1);
  return copies < 2 ? step : tr("%1, copy %2").arg(step).arg(own.copy + 1);
}

QString requestName(const trace::Replay& state, RequestId request) {
  const auto& requests = state.progress().requests;
  const auto found = requests.find(request);
  if (found == requests.end()) return tr("request %1").arg(request);
  const QString run = tr("run %1").arg(found->second.run);
  const QString detail = requestDetail(state, request);
  return detail.isEmpty() ? run : tr("%1, %2").arg(run, detail);
}

}  // namespace spanscope::ui
