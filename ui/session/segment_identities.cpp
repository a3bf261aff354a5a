// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/segment_identities.h"

#include "engine/base/hash.h"
#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace spanscope::ui {
namespace {

using document::Document;
using document::kNoNode;
using document::NodeId;
using Part = SegmentRecords::Part;

constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr std::size_t kMostCopies = 64;
/// The hue of the query's answer: the last hue without a pattern. The answer keeps this hue when a message is
/// added to the prompt.
constexpr std::size_t kAnswerHue = 7;

/// A node of a query. Lists have parents before their children.
struct Item {
  const query::Node* own = nullptr;
  std::size_t parent = kNone;
};

bool isPlus(const query::Node& node) {
  const auto* join = node.as<query::Join>();
  return join != nullptr && join->kind == query::JoinKind::Plus;
}

bool isText(const query::Node& node) {
  return query::infoOf(node).gives == query::Gives::Text || query::isSugar(node);
}

/// Appends the node's operator and texts, without its children.
void addSaidBy(const query::Node& node, std::string& said) {
  const auto add = [&said](const std::string& text) {
    said += '\n';
    said += text;
  };
  said += query::operatorName(node);
  if (const std::string* text = query::textOf(node)) add(*text);
  if (const auto* inputs = query::inputsOf(node)) {
    for (const std::string& input : *inputs) add(input);
  }
  if (const auto* document = query::documentOf(node)) add(document->name);
  said += '\0';
}

std::size_t copiesOf(const query::Node& node) {
  if (const auto* inputs = query::inputsOf(node))
    return std::clamp<std::size_t>(inputs->size(), 1, kMostCopies);
  const query::Times* times = query::countOf(node);
  const auto* count = times == nullptr ? nullptr : std::get_if<std::uint8_t>(times);
  return count == nullptr ? 1 : std::clamp<std::size_t>(*count, 1, kMostCopies);
}

std::vector<Part> partsOf(const std::vector<Item>& items) {
  std::vector<Part> parts;
  std::vector<std::size_t> partOf(items.size(), kNone);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::size_t parent = items[i].parent;
    const query::Node& own = *items[i].own;
    const bool inPlus = parent != kNone && isPlus(*items[parent].own);
    const bool opens = inPlus && !isPlus(own);
    const bool isLeaf = isText(own) || query::documentOf(own) != nullptr;
    const bool isRoot = parent == kNone && query::answers(own);
    if (!opens && parent != kNone) partOf[i] = isPlus(own) ? kNone : partOf[parent];
    if (opens || (isLeaf && partOf[i] == kNone) || isRoot) {
      Part part;
      part.top = i;
      part.kind = query::answers(own) ? PartKind::Answer
                  : !opens            ? PartKind::Message
                  : isLeaf            ? PartKind::Document
                                      : PartKind::Part;
      if (part.kind == PartKind::Answer) part.copies = copiesOf(own);
      parts.push_back(std::move(part));
      // The root is part of its answer. The nodes under it are not.
      if (!isRoot) partOf[i] = parts.size() - 1;
      if (isRoot) parts.back().nodes.push_back(i);
    }
    if (partOf[i] != kNone) parts[partOf[i]].nodes.push_back(i);
  }
  std::map<std::uint64_t, std::size_t> answers;
  std::string said;
  for (Part& part : parts) {
    said.clear();
    for (const std::size_t node : part.nodes) addSaidBy(*items[node].own, said);
    if (part.kind == PartKind::Answer && items[part.top].parent == kNone) said = "the answer";
    // Two nodes with the same content have two answers.
    if (part.kind == PartKind::Answer) said += std::to_string(answers[hash64(said)]++);
    part.content = hash64(said) ^ static_cast<std::uint64_t>(part.kind);
  }
  return parts;
}

struct DocumentItems {
  std::vector<Item> items;
  std::vector<NodeId> ids;  ///< of each
};

DocumentItems itemsOf(const Document& document) {
  struct Open {
    NodeId id = kNoNode;
    std::size_t parent = kNone;
  };
  DocumentItems all;
  all.items.reserve(document.size());
  all.ids.reserve(document.size());
  std::vector<Open> open;  // a stack: trees may be deep
  const std::vector<NodeId> tops = document.tops();
  for (auto top = tops.rbegin(); top != tops.rend(); ++top) open.push_back({.id = *top});
  while (!open.empty()) {
    const Open next = open.back();
    open.pop_back();
    const document::DocumentNode& node = document.at(next.id);
    for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
      if (*child != kNoNode) open.push_back({.id = *child, .parent = all.items.size()});
    }
    all.items.push_back({.own = &node.own, .parent = next.parent});
    all.ids.push_back(next.id);
  }
  return all;
}

/// Assigns identities to sections, one prompt after the other.
class Giver {
 public:
  /// `answers`: the max number of copies of a query's answer. No other section gets the hues of these copies.
  Giver(std::vector<SegmentIdentity>& all, std::size_t answers) : m_all(all), m_answers(answers) {}

  struct Wanted {
    const Part* part = nullptr;
    std::size_t tab = 0;    ///< the document that has the node
    NodeId node = kNoNode;  ///< kNoNode: the section is in no document of the window
    bool isTop = false;     ///< the section's node is the top of its tree
  };

  /// The identities of the sections, in the order of the sections.
  std::vector<std::size_t> give(const std::vector<Wanted>& wanted) {
    std::vector<std::size_t> given(wanted.size(), kNone);
    std::vector<bool> taken(m_all.size());
    const auto take = [&](std::size_t i, const auto& from, const auto& key, bool mayShare) {
      if (given[i] != kNone) return;
      const auto found = from.find(key);
      if (found == from.end() || m_all[found->second].kind != wanted[i].part->kind) return;
      if (!mayShare && taken[found->second]) return;
      given[i] = found->second;
      taken[found->second] = true;
    };
    for (std::size_t i = 0; i < wanted.size(); ++i) take(i, m_byContent, wanted[i].part->content, true);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].node != kNoNode) take(i, m_byNode, std::pair(wanted[i].tab, wanted[i].node), false);
    }
    // New identities follow the order in which the nodes were made. So moving nodes before a run changes no
    // identity.
    std::vector<std::size_t> order;
    order.reserve(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return wanted[a].node < wanted[b].node; });
    // The query's answer comes after its sections. An answer that is a section is ordered like the other
    // sections, so that a later answer changes no hue.
    std::stable_partition(order.begin(), order.end(), [&](std::size_t i) {
      return wanted[i].part->kind != PartKind::Answer || !wanted[i].isTop;
    });
    m_all.reserve(m_all.size() + order.size());
    m_byContent.reserve(m_byContent.size() + order.size());
    for (const std::size_t i : order) {
      const Part& part = *wanted[i].part;
      const auto [same, isNew] = m_byContent.try_emplace(part.content, given[i]);
      const bool isTopAnswer = part.kind == PartKind::Answer && wanted[i].isTop;
      if (given[i] == kNone) given[i] = isNew ? add(part, isTopAnswer) : same->second;
      if (isNew) same->second = given[i];
      if (wanted[i].node != kNoNode) m_byNode[{wanted[i].tab, wanted[i].node}] = given[i];
    }
    return given;
  }

 private:
  std::size_t add(const Part& part, bool isTopAnswer) {
    const std::size_t number = m_counts[static_cast<std::size_t>(part.kind)]++;
    if (isTopAnswer) {
      m_all.push_back({.hue = kAnswerHue, .number = number, .kind = part.kind, .copies = part.copies});
      return m_all.size() - 1;
    }
    if (m_hues <= kAnswerHue && m_hues + part.copies > kAnswerHue) m_hues = kAnswerHue + m_answers;
    m_all.push_back({.hue = m_hues, .number = number, .kind = part.kind, .copies = part.copies});
    m_hues += part.copies;
    return m_all.size() - 1;
  }

  std::vector<SegmentIdentity>& m_all;
  std::size_t m_answers;
  std::size_t m_hues = 0;
  std::array<std::size_t, 4> m_counts{};  ///< by kind
  std::unordered_map<std::uint64_t, std::size_t> m_byContent;
  std::map<std::pair<std::size_t, NodeId>, std::size_t> m_byNode;
};

/// A document with its runs, or a run of no open document. Sources with a common section are linked.
struct Source {
  DocumentItems items;
  std::vector<Part> parts;                     ///< of the document
  std::unordered_set<std::uint64_t> contents;  ///< of the sections under a plus, which link sources
  bool isLinked = false;                       ///< this is the shown document, or linked to it

  void addContents(const std::vector<Part>& added) {
    for (const Part& part : added) {
      if (part.kind == PartKind::Document || part.kind == PartKind::Part) contents.insert(part.content);
    }
  }
};

/// Marks the shown document, and every source that shares a section with a marked source.
void markLinked(std::vector<Source>& tabs, std::map<RunId, Source>& others, std::size_t own) {
  std::unordered_map<std::uint64_t, std::vector<Source*>> byContent;
  for (Source& tab : tabs) {
    for (const std::uint64_t content : tab.contents) byContent[content].push_back(&tab);
  }
  for (auto& [run, source] : others) {
    for (const std::uint64_t content : source.contents) byContent[content].push_back(&source);
  }
  std::vector<Source*> open{&tabs[own]};
  tabs[own].isLinked = true;
  while (!open.empty()) {
    const Source* next = open.back();
    open.pop_back();
    for (const std::uint64_t content : next->contents) {
      // Each content is followed once.
      for (Source* linked : std::exchange(byContent[content], {})) {
        if (std::exchange(linked->isLinked, true)) continue;
        open.push_back(linked);
      }
    }
  }
}

bool isAbove(const NodePath& above, const NodePath& below) {
  return below.size() >= above.size() && below.compare(0, above.size(), above) == 0 &&
         (below.size() == above.size() || above.empty() || below[above.size()] == '/');
}

}  // namespace

const SegmentIdentity* SegmentIdentities::ofRun(RunId run, const NodePath& path) const {
  const auto found = m_runs.find(run);
  if (found == m_runs.end()) return nullptr;
  for (NodePath at = path;; at.resize(at.rfind('/'))) {
    const auto exact = found->second.find(at);
    if (exact != found->second.end()) return &m_all[exact->second];
    if (at.find('/') == NodePath::npos) break;
  }
  // The path may be a list around the section.
  const auto below = found->second.lower_bound(path);
  return below != found->second.end() && isAbove(path, below->first) ? &m_all[below->second] : nullptr;
}

const SegmentIdentity* SegmentIdentities::ofNode(NodeId node) const {
  return node < m_nodes.size() && m_nodes[node] != kNone ? &m_all[m_nodes[node]] : nullptr;
}

std::size_t SegmentIdentities::count(PartKind kind) const {
  return static_cast<std::size_t>(std::count_if(
      m_all.begin(), m_all.end(), [kind](const SegmentIdentity& own) { return own.kind == kind; }));
}

const SegmentRecords::RunParts& SegmentRecords::partsOf(RunId run, const std::string& queryJson) {
  const auto found = m_runs.find(run);
  if (found != m_runs.end()) return found->second;
  RunParts read;
  const std::optional<query::Node> query = query::parseJson(queryJson).query;
  std::vector<Item> items;
  if (query) {
    std::vector<std::size_t> above;
    query::walk(*query, NodePath(), [&](const query::Node& node, const NodePath& path) {
      while (!above.empty() && !isAbove(read.paths[above.back()], path)) above.pop_back();
      items.push_back({.own = &node, .parent = above.empty() ? kNone : above.back()});
      above.push_back(read.paths.size());
      read.paths.push_back(path);
    });
    read.parts = ui::partsOf(items);
  }
  return m_runs.emplace(run, std::move(read)).first->second;
}

SegmentIdentities SegmentRecords::read(const std::vector<Open>& open, std::size_t own,
                                       const TraceStore& trace) {
  if (m_trace != &trace) m_runs.clear();
  m_trace = &trace;
  const auto& runs = trace.newest().progress().runs;
  std::vector<Source> tabs;
  std::map<RunId, std::size_t> tabOf;  // by run; only runs of these documents
  for (const Open& each : open) {
    Source& tab = tabs.emplace_back();
    tab.items = itemsOf(*each.document);
    tab.parts = ui::partsOf(tab.items.items);
    tab.addContents(tab.parts);
    for (const auto& [run, paths] : *each.paths) {
      const auto state = runs.find(run);
      if (state == runs.end() || !tabOf.emplace(run, tabs.size() - 1).second) continue;
      tab.addContents(partsOf(run, *state->second.queryJson).parts);
    }
  }
  std::map<RunId, Source> others;
  for (const auto& [run, state] : runs) {
    if (!tabOf.contains(run)) others[run].addContents(partsOf(run, *state.queryJson).parts);
  }
  markLinked(tabs, others, own);

  std::size_t answers = 1;
  const auto countAnswers = [&answers](const Part& part, bool isTop) {
    if (isTop && part.kind == PartKind::Answer) answers = std::max(answers, part.copies);
  };
  const auto countOfRun = [&](RunId run) {
    const RunParts& parts = m_runs.at(run);
    for (const Part& part : parts.parts) countAnswers(part, parts.paths[part.top].empty());
  };
  for (const Source& tab : tabs) {
    if (!tab.isLinked) continue;
    for (const Part& part : tab.parts) countAnswers(part, tab.items.items[part.top].parent == kNone);
  }
  for (const auto& [run, tab] : tabOf) {
    if (tabs[tab].isLinked) countOfRun(run);
  }
  for (const auto& [run, source] : others) {
    if (source.isLinked) countOfRun(run);
  }
  SegmentIdentities result;
  Giver giver(result.m_all, answers);
  const auto giveRun = [&](RunId run, std::size_t tab, const document::NodePaths* paths) {
    const RunParts& parts = m_runs.at(run);
    std::vector<Giver::Wanted> wanted;
    for (const Part& part : parts.parts) {
      const NodeId node = paths == nullptr ? kNoNode : paths->nodeOf(parts.paths[part.top]);
      wanted.push_back({.part = &part, .tab = tab, .node = node, .isTop = parts.paths[part.top].empty()});
    }
    const std::vector<std::size_t> given = giver.give(wanted);
    auto& byPath = result.m_runs[run];
    for (std::size_t i = 0; i < given.size(); ++i) {
      for (const std::size_t node : parts.parts[i].nodes) byPath[parts.paths[node]] = given[i];
    }
  };
  auto nextOther = others.begin();
  const auto giveOthersBefore = [&](RunId run) {
    for (; nextOther != others.end() && nextOther->first < run; ++nextOther) {
      if (nextOther->second.isLinked) giveRun(nextOther->first, open.size(), nullptr);
    }
  };
  for (std::size_t tab = 0; tab < tabs.size(); ++tab) {
    if (!tabs[tab].isLinked) continue;
    for (const auto& [run, paths] : *open[tab].paths) {
      const auto mine = tabOf.find(run);
      if (mine == tabOf.end() || mine->second != tab) continue;
      giveOthersBefore(run);
      giveRun(run, tab, &paths);
    }
    giveOthersBefore(std::numeric_limits<RunId>::max());
    const auto& [items, ids] = tabs[tab].items;
    std::vector<Giver::Wanted> wanted;
    wanted.reserve(tabs[tab].parts.size());
    for (const Part& part : tabs[tab].parts)
      wanted.push_back(
          {.part = &part, .tab = tab, .node = ids[part.top], .isTop = items[part.top].parent == kNone});
    const std::vector<std::size_t> given = giver.give(wanted);
    if (tab != own) continue;
    result.m_nodes.assign(ids.empty() ? 0 : *std::max_element(ids.begin(), ids.end()) + 1, kNone);
    for (std::size_t i = 0; i < given.size(); ++i) {
      for (const std::size_t node : tabs[tab].parts[i].nodes) result.m_nodes[ids[node]] = given[i];
    }
  }
  return result;
}

}  // namespace spanscope::ui
