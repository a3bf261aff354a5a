// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/lesson_actions.h"

#include "engine/query/node_parts.h"
#include "engine/query/shown_text.h"
#include "engine/trace/event.h"
#include "engine/trace/prompt_parts.h"
#include "engine/workbench/document/document_text.h"
#include "ui/document/problems.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

using lesson::Action;
using lesson::ActionKind;
using lesson::Moment;
using lesson::Target;

constexpr const char* kCompare = "compare";  ///< the id of the dock

const std::string& wordOf(const Action& action) {
  return std::get<std::string>(action.arguments.front().value);
}

void noteOpen(LessonView& view, const Action&) {
  view.target.reset();
  view.zoom.clear();
}

void noteLayout(LessonView& view, const Action& action) {
  view.layout = wordOf(action);
  ++view.layoutActions;
  view.docks.clear();
  view.compared = 0;
  view.experiment.clear();
}

void bringToFront(LessonView& view, const std::string& dock) {
  std::erase(view.docks, dock);
  view.docks.push_back(dock);
}

void noteDock(LessonView& view, const Action& action) {
  bringToFront(view, wordOf(action));
}

void noteTarget(LessonView& view, const Action& action) {
  view.target = std::get<Target>(action.arguments.front().value);
}

void noteMoment(LessonView& view, const Action& action) {
  view.moment = std::get<Moment>(action.arguments.front().value);
}

void noteZoom(LessonView& view, const Action& action) {
  view.zoom = wordOf(action);
}

void noteRun(LessonView& view, const Action&) {
  view.moment.reset();
  // The comparison was of an earlier run.
  if (view.compared > 0) std::erase(view.docks, kCompare);
  view.compared = 0;
}

void noteCompared(LessonView& view, const Action& action) {
  view.compared = std::get<std::uint32_t>(action.arguments.front().value);
  bringToFront(view, kCompare);
}

/// The selected node stays selected at its new place.
void noteSwap(LessonView& view, const Action& action) {
  if (view.target) view.target = afterSwap(std::move(*view.target), action);
}

void noteExperiment(LessonView& view, const Action& action) {
  view.experiment = wordOf(action);
  bringToFront(view, "experiments");
}

document::NodeId nodeAt(const document::Document& document, const NodePath& path) {
  for (const auto& [place, id] : document::pathsInTree(document, document.root())) {
    if (place == path) return id;
  }
  return document::kNoNode;
}

/// Returns the node of a section of the prompt by its number, from 1. Empty: there is no such section.
NodePath partNode(const metrics::RequestFacts& request, std::size_t number) {
  std::vector<NodePath> nodes;
  for (const trace::SegmentInfo& segment : *request.segments) {
    if (segment.hidden) continue;
    for (const trace::TokenRunInfo& run : segment.runs) {
      if (run.source != trace::TokenSource::Text) continue;
      if (nodes.empty() || nodes.back() != run.node) nodes.push_back(run.node);
    }
  }
  return number == 0 || number > nodes.size() ? NodePath() : nodes[number - 1];
}

}  // namespace

const std::vector<ActionRow>& actionRows() {
  using enum ActionStep;
  static const std::vector<ActionRow> rows{{ActionKind::Open, Document, noteOpen},
                                           {ActionKind::Layout, View, noteLayout},
                                           {ActionKind::Dock, View, noteDock},
                                           {ActionKind::Select, View, noteTarget},
                                           {ActionKind::Scrub, View, noteMoment},
                                           {ActionKind::Zoom, View, noteZoom},
                                           {ActionKind::Set, Document, nullptr},
                                           {ActionKind::Edit, Document, nullptr},
                                           {ActionKind::Swap, Document, noteSwap},
                                           {ActionKind::Run, Run, noteRun},
                                           {ActionKind::Wait, Wait, noteMoment},
                                           {ActionKind::Compare, View, noteCompared},
                                           {ActionKind::Fidelity, Fidelity, nullptr},
                                           {ActionKind::Empty, Empty, nullptr},
                                           {ActionKind::Experiment, View, noteExperiment}};
  return rows;
}

const ActionRow& actionRow(ActionKind kind) {
  return *std::find_if(actionRows().begin(), actionRows().end(),
                       [kind](const ActionRow& row) { return row.kind == kind; });
}

Target afterSwap(Target target, const Action& swap) {
  if (target.kind != Target::Kind::Node || swap.arguments.size() != 2) return target;
  const auto* first = std::get_if<Target>(&swap.arguments[0].value);
  const auto* second = std::get_if<Target>(&swap.arguments[1].value);
  if (first == nullptr || second == nullptr) return target;
  for (const auto& [from, to] : {std::pair(first, second), std::pair(second, first)}) {
    if (target.node != from->node && !target.node.starts_with(from->node + "/")) continue;
    target.node.replace(0, from->node.size(), to->node);
    break;
  }
  return target;
}

bool isAsWanted(const document::Document& shown, const document::Document& wanted) {
  if (shown == wanted) return true;
  if (shown.settings != wanted.settings || shown.parameters != wanted.parameters) return false;
  const std::vector<document::NodeId> ids = wanted.subtree(wanted.root());
  if (shown.root() != wanted.root() || shown.subtree(shown.root()) != ids) return false;
  return std::all_of(ids.begin(), ids.end(), [&](document::NodeId id) {
    const document::DocumentNode& now = shown.at(id);
    const document::DocumentNode& other = wanted.at(id);
    query::Node own = now.own;
    std::string* const text = query::textOf(own);
    const std::string* const wish = query::textOf(other.own);
    if (text != nullptr && wish != nullptr) {
      const auto plain = [](const std::string& words) {
        return QString::fromStdString(words).simplified().toCaseFolded();
      };
      if (plain(*text) == plain(*wish)) *text = *wish;
    }
    return own == other.own && now.children == other.children && now.muted == other.muted &&
           now.frozen == other.frozen && now.server == other.server;
  });
}

QString changeName(ActionKind kind) {
  switch (kind) {
    case ActionKind::Set:
      return tr("Lesson: set");
    case ActionKind::Edit:
      return tr("Lesson: edit");
    case ActionKind::Swap:
      return tr("Lesson: swap");
    default:
      return tr("Lesson");
  }
}

std::optional<Selection> selectionOf(const Target& target, const document::Document& document,
                                     const metrics::RunFacts* run) {
  Selection selection;
  if (target.kind == Target::Kind::Dock) return std::nullopt;
  if (target.kind == Target::Kind::Node) {
    const document::NodeId id = nodeAt(document, target.node);
    if (id == document::kNoNode) return std::nullopt;
    selection.nodes = {id};
    return selection;
  }
  if (run == nullptr || run->requests.empty()) return std::nullopt;
  const metrics::RequestFacts& request = run->requests.front();
  selection.request = request.request;
  if (target.kind == Target::Kind::Span) {
    const document::NodeId id = nodeAt(document, partNode(request, target.number));
    if (id == document::kNoNode) return std::nullopt;
    selection.nodes = {id};
    return selection;
  }
  if (target.kind == Target::Kind::Block) {
    const std::vector<trace::BlockPlace> blocks = metrics::blocksInView(request, run->blockSize);
    if (target.number >= blocks.size()) return std::nullopt;
    const trace::BlockPlace& place = blocks[target.number];
    selection.block = BlockRef{request.request, place.segment, place.virtualIndex};
    return selection;
  }
  const std::vector<metrics::ViewToken> tokens = metrics::tokensInView(request);
  if (target.number == 0 || target.number > tokens.size()) return std::nullopt;
  const metrics::ViewToken& token = tokens[target.number - 1];
  selection.token = TokenRef{request.request, token.segment, token.local};
  return selection;
}

QString nodeWords(const document::Document& document, const NodePath& path) {
  constexpr std::size_t kMostText = 40;  // characters
  const document::NodeId id = nodeAt(document, path);
  if (id == document::kNoNode) return {};
  query::Node own = document.at(id).own;
  const std::string* const text = query::textOf(own);
  return text == nullptr || text->empty() ? nodeLabel(document.at(id))
                                          : QString::fromStdString(query::cutText(*text, kMostText));
}

std::optional<std::size_t> blockNumber(const Selection& selection, const metrics::RunFacts& run) {
  if (run.requests.empty()) return std::nullopt;
  const metrics::RequestFacts& request = run.requests.front();
  trace::BlockPlace place;
  if (selection.block && selection.block->request == request.request)
    place = {.segment = selection.block->segment, .virtualIndex = selection.block->virtualIndex};
  else if (selection.token && selection.token->request == request.request)
    place = metrics::blockOf({.segment = selection.token->segment, .local = selection.token->local},
                             run.blockSize);
  else
    return std::nullopt;
  const std::vector<trace::BlockPlace> blocks = metrics::blocksInView(request, run.blockSize);
  const auto found = std::find(blocks.begin(), blocks.end(), place);
  if (found == blocks.end()) return std::nullopt;
  return static_cast<std::size_t>(found - blocks.begin());
}

std::optional<std::size_t> positionOf(const Moment& moment, RunId run, const TraceStore& trace) {
  const std::optional<std::size_t> start = trace.startOf(run);
  if (!start) return std::nullopt;
  const std::size_t end = trace.endOf(run);
  switch (moment.kind) {
    case Moment::Kind::Start:
      return *start + 1;
    case Moment::Kind::End:
      return end;
    case Moment::Kind::Number: {
      std::uint64_t number = 0;
      for (std::size_t index = *start; index < end; ++index) {
        if (trace.event(index).run == run && ++number == moment.number) return index + 1;
      }
      return std::nullopt;
    }
    case Moment::Kind::Event:
      for (std::size_t index = *start; index < end; ++index) {
        const trace::Event& event = trace.event(index);
        if (event.run == run && moment.event == trace::eventName(event.payload)) return index + 1;
      }
      return std::nullopt;
  }
  return std::nullopt;
}

void show(LessonStage& stage, const LessonView& view, const document::Document* document,
          const std::vector<std::pair<RunId, const metrics::RunFacts*>>& runs) {
  if (!view.layout.empty()) stage.showLayout(QString::fromStdString(view.layout), view.layoutActions);
  if (document == nullptr) return;
  for (const std::string& dock : view.docks) stage.showDock(QString::fromStdString(dock));
  if (!runs.empty()) {
    const RunId last = runs.back().first;
    if (const auto trace = stage.traceOf(last)) {
      const std::optional<std::size_t> position = positionOf(view.moment.value_or(Moment{}), last, *trace);
      stage.showRun(last, position.value_or(trace->endOf(last)));
    }
    if (view.compared > 0 && view.compared <= runs.size())
      stage.compare(runs[view.compared - 1].first, last);
    else
      stage.compareLast();
  }
  std::optional<Selection> selection;
  if (view.target)
    selection = selectionOf(*view.target, *document, runs.empty() ? nullptr : runs.back().second);
  stage.select(selection.value_or(Selection()));
  if (!view.zoom.empty()) stage.zoom(QString::fromStdString(view.zoom));
  if (!view.experiment.empty()) stage.showExperiment(QString::fromStdString(view.experiment));
}

}  // namespace spanscope::ui
