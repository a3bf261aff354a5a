// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/segment_names.h"

#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "engine/query/query.h"
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

bool holdsOutput(const trace::SegmentInfo& segment) {
  return std::any_of(segment.runs.begin(), segment.runs.end(), [](const trace::TokenRunInfo& run) {
    return run.source == trace::TokenSource::Output && run.count > 0;
  });
}

QString roleOf(const trace::SegmentInfo& segment, const query::Node* node, bool only, bool last) {
  if (segment.depth > 0) {
    if (holdsOutput(segment)) return tr("answer");
    const bool isText = node == nullptr || query::infoOf(*node).gives == query::Gives::Text ||
                        query::isSugar(*node) || query::documentOf(*node) != nullptr;
    return isText ? tr("document") : tr("part");
  }
  if (only) return tr("prompt");
  const query::Message* message = node == nullptr ? nullptr : node->as<query::Message>();
  if (last && (message == nullptr || message->role == query::Role::User)) return tr("question");
  if (holdsOutput(segment)) return tr("answer");
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

/// The visible segment that stands in the place of a hidden segment and began as a copy of it (blend, relay).
std::optional<std::size_t> copyOf(const std::vector<trace::SegmentInfo>& segments, std::size_t index) {
  const trace::SegmentInfo& stored = segments[index];
  for (std::size_t i = index + 1; stored.hidden && i < segments.size(); ++i) {
    const trace::SegmentInfo& segment = segments[i];
    if (!segment.hidden && segment.scope == stored.scope && segment.base == stored.base &&
        segment.node == stored.node && segment.visibleBegin == stored.visibleBegin)
      return i;
  }
  return std::nullopt;
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

std::vector<SegmentName> namesOf(const std::vector<trace::SegmentInfo>& segments, RunNodes nodes,
                                 const SegmentIdentities& all, const IdentityOf& identityOf) {
  std::vector<SegmentName> names(segments.size());
  std::size_t visible = 0;
  std::size_t last = 0;
  std::map<const SegmentIdentity*, std::size_t> copies;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    names[i].hidden = segments[i].hidden;
    names[i].hue = visible;
    if (segments[i].hidden) continue;
    if (i > 0 && isLinked(segments, i - 1)) {
      names[i].hue = names[i - 1].hue;
      last = i;
      continue;
    }
    if (const SegmentIdentity* identity = identityOf(segments[i].node)) {
      const std::size_t copy = copies[identity]++;
      names[i].hue = identity->hue + std::min(copy, identity->copies - 1);
    }
    ++visible;
    last = i;
  }
  std::map<QString, std::vector<std::size_t>> byRole;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (names[i].hidden) {
      names[i].name = tr("hidden prefix");
      continue;
    }
    if (i > 0 && isLinked(segments, i - 1)) continue;
    const document::DocumentNode* node = nodes.inDocument(segments[i].node);
    if (node != nullptr && !node->name.empty()) {
      names[i].name = QString::fromStdString(node->name);
      continue;
    }
    names[i].name = roleOf(segments[i], nodes.find(segments[i].node), visible == 1, i == last);
    const QString numbered = numberedName(names[i].name, identityOf(segments[i].node), all);
    if (!numbered.isEmpty()) {
      names[i].name = numbered;
      continue;
    }
    byRole[names[i].name].push_back(i);
  }
  for (const auto& [role, places] : byRole) {
    if (places.size() < 2) continue;
    for (std::size_t n = 0; n < places.size(); ++n) {
      names[places[n]].name = tr("%1 %2").arg(role).arg(n + 1);
    }
  }
  for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
    if (const auto copy = copyOf(segments, i)) {
      names[i].name = tr("%1, stored").arg(names[*copy].name);
      names[i].hue = names[*copy].hue;
    }
    if (!isLinked(segments, i)) continue;
    names[i + 1].name = names[i].name;
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
  for (const layout::TokenRun& run : segment.runs) {
    const bool isOutput = run.source == layout::TokenRun::Source::Output;
    info.runs.push_back({.count = run.count,
                         .source = isOutput ? trace::TokenSource::Output : trace::TokenSource::Text,
                         .node = run.node});
  }
  return info;
}

}  // namespace

std::vector<SegmentName> segmentNames(const ViewInput& input, RunId run,
                                      const std::vector<trace::SegmentInfo>& segments) {
  const auto all = input.partIdentities();
  return namesOf(segments, RunNodes(input, run), *all,
                 [&](const NodePath& path) { return all->ofRun(run, path); });
}

std::vector<SegmentName> segmentNames(const ViewInput& input, const Forecast& forecast,
                                      const layout::SpanTable& table) {
  std::vector<trace::SegmentInfo> segments;
  segments.reserve(table.segments.size());
  for (const layout::Segment& segment : table.segments) segments.push_back(infoOf(segment));
  const auto all = input.partIdentities();
  return namesOf(segments, RunNodes(input, forecast), *all,
                 [&](const NodePath& path) { return all->ofNode(forecast.paths.nodeOf(path)); });
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
