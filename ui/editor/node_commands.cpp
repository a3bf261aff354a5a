// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "engine/workbench/document/edits.h"
#include "ui/commands/command_table.h"
#include "ui/document/unread_text.h"
#include "ui/editor/add_rules.h"
#include "ui/editor/alignment.h"
#include "ui/editor/canvas_items.h"
#include "ui/editor/canvas_parts.h"
#include "ui/editor/clipboard.h"
#include "ui/editor/node_status.h"
#include "ui/editor/tidy_layout.h"
#include "ui/words/tr.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QMimeData>
#include <QRectF>
#include <QString>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::ui {
namespace {

// Finds the answers of a run that a frozen node keeps.

struct FreezableAnswers {
  std::vector<std::string> answers;  ///< ordered by copy
  QString problem;                   ///< why there are no answers, for the user
};

using document::NodeId;
using document::NodePaths;

/// Returns the steps of the node whose answers only another step of the node reads. Attention locality splits
/// a judge into several judges, and only the answer of the last judge belongs to the node.
std::set<StepIndex> innerSteps(const trace::RunState& run, const NodePaths& paths, NodeId node) {
  std::set<StepIndex> own;
  for (const trace::PlannedStep& step : run.plan->steps) {
    if (paths.nodeOf(step.node) == node) own.insert(step.step);
  }
  std::set<StepIndex> inner;
  for (const trace::PlannedStep& step : run.plan->steps) {
    if (own.count(step.step) == 0) continue;
    for (const StepIndex need : step.needs) {
      if (own.count(need) != 0) inner.insert(need);
    }
  }
  return inner;
}

/// Returns the number of answers of the node each time that it ran, from the run's query. 0: not known.
std::size_t answersEachTime(const trace::RunState& run, const NodePath& path) {
  const query::ParseResult read = query::parseJson(*run.queryJson);
  const query::Node* then = read.query ? query::nodeAt(*read.query, path) : nullptr;
  if (then == nullptr) return 0;
  if (const std::vector<std::string>* inputs = query::inputsOf(*then)) return inputs->size();
  const query::Times* times = query::countOf(*then);
  const auto* count = times == nullptr ? nullptr : std::get_if<std::uint8_t>(times);
  return count == nullptr ? 0 : *count;
}

bool isWhole(const trace::RequestState& request) {
  return request.outcome &&
         (*request.outcome == trace::StepOutcome::EndToken || trace::endedByLimit(*request.outcome));
}

/// Returns the shown answer of a generate node, or all answers of a repeat or map node in the run of the
/// shown answer. A node below a repeat runs several times in a run. Then only the answers of the shown time
/// count. If one of these answers is missing, returns no answers and a `problem`.
FreezableAnswers freezableAnswers(const ViewInput& input, NodeId node, const NodeStatus& shown) {
  if (document::mostAnswers(input.document->at(node).own) == 1) return {{shown.answer}, {}};
  const trace::Progress& progress = input.state().progress();
  const auto request = progress.requests.find(shown.request);
  const auto run =
      request == progress.requests.end() ? progress.runs.end() : progress.runs.find(request->second.run);
  const auto paths = run == progress.runs.end() ? input.paths.end() : input.paths.find(run->first);
  if (paths == input.paths.end()) return {{}, tr("There are no answers to freeze. Run the query first.")};

  const std::set<StepIndex> inner = innerSteps(run->second, paths->second, node);
  std::map<std::uint32_t, const trace::RequestState*> byCopy;
  for (const RequestId id : run->second.requests) {
    const auto found = progress.requests.find(id);
    if (found == progress.requests.end() || paths->second.nodeOf(found->second.node) != node) continue;
    if (inner.count(found->second.step) == 0) byCopy[found->second.copy] = &found->second;
  }
  const std::size_t each = answersEachTime(run->second, request->second.node);
  const auto before = std::distance(byCopy.begin(), byCopy.lower_bound(shown.copy));
  const std::size_t first = each == 0 ? 0 : static_cast<std::size_t>(before) / each * each;

  FreezableAnswers result;
  std::size_t index = 0;
  for (const auto& [copy, answer] : byCopy) {
    if (index++ < first || index > first + each) continue;
    if (isWhole(*answer)) result.answers.push_back(answer->text);
  }
  if (each == 0 || result.answers.size() != each) {
    const std::size_t missing = each - std::min(each, result.answers.size());
    result.answers.clear();
    result.problem =
        tr(/*id:answers-not-given*/ "%1 of the %2 answers of this node are missing. Run the query first.")
            .arg(missing)
            .arg(each);
  }
  return result;
}

using document::Arity;
using document::arityOf;
using document::Document;
using document::DocumentNode;
using document::kNoNode;
using document::Point;
using document::Rect;

constexpr double kFrameMargin = 20;
constexpr std::size_t kFrameHues = 6;  // the number of hues that files can hold
constexpr double kNoteWidth = 200;
constexpr double kNoteHeight = 80;

class DocumentCommands {
  Q_DECLARE_TR_FUNCTIONS(spanscope::ui::DocumentCommands)
 public:
  DocumentCommands(CanvasCore& core, std::function<QPointF()> pointer)
      : m_core(core), m_pointer(std::move(pointer)) {}

  const Document& document() const { return m_core.document(); }
  bool editable() const { return m_core.model() != nullptr; }
  bool hasNodes() const { return !m_core.selection().empty(); }
  bool canEditNodes() const { return editable() && hasNodes(); }

  // ---- clipboard ----
  void copy() const {
    QGuiApplication::clipboard()->setText(
        QString::fromStdString(nodesToText(document(), m_core.selection())));
  }

  void cut() {
    copy();
    removeNodes(tr("Cut"), false);
  }

  void paste() {
    // File managers also provide the paths as text, so files are checked first.
    const QMimeData* data = QGuiApplication::clipboard()->mimeData();
    if (const QStringList files = data == nullptr ? QStringList() : localFiles(*data); !files.isEmpty()) {
      m_core.reportPasted(files);
      return;
    }
    const PastedNodes pasted = nodesFromText(QGuiApplication::clipboard()->text().toStdString());
    if (pasted.trees.empty()) {
      m_core.say(pasted.error);
      return;
    }
    std::vector<NodeId> added;
    const QPointF at = m_pointer();
    m_core.change(tr("Paste"), [&](Document& next) {
      added = pasteTrees(next, pasted.trees, m_core.current(), {.x = at.x(), .y = at.y()}, m_core.stacks());
    });
    m_core.select(added);
    m_core.traceAdded();
    if (pasted.warnings.empty() || m_core.model() == nullptr) return;
    UnreadText::of(*m_core.model()).notePaste(pasted.warnings);
    m_core.say(
        pasted.warnings.size() == 1
            ? tr("One part of the pasted text is not in the query. The Problems dock lists this part.")
            : tr("%1 parts of the pasted text are not in the query. The Problems dock lists these parts.")
                  .arg(pasted.warnings.size()));
  }

  void duplicate() {
    std::vector<NodeId> copies;
    std::vector<NodeId> drafts;
    const auto layout = m_core.layout();
    m_core.change(tr("Duplicate"), [&](Document& next) {
      const std::vector<NodeId> originals = document::topmost(next, m_core.selection());
      copies = document::duplicate(next, originals);
      for (std::size_t i = 0; i < copies.size() && i < originals.size(); ++i) {
        // A copy without a place in the parent goes next to its original.
        const auto rect = layout.find(originals[i]);
        if (next.at(copies[i]).parent != kNoNode || rect == layout.end()) continue;
        document::setPosition(next, copies[i], Point{.x = rect->second.x + 40, .y = rect->second.y + 40});
        drafts.push_back(copies[i]);
      }
      // Drafts come last, because copies with a place in their parent have moved the others.
      for (const NodeId draft : drafts) moveToFreePlace(next, draft, m_core.stacks());
    });
    m_core.select(copies);
    m_core.traceAdded();
  }

  // ---- removing ----
  bool canRemove() const {
    return editable() && (hasNodes() || m_core.selectedArea().kind != AreaRef::Kind::None);
  }

  void remove(bool keepChain) {
    const AreaRef area = m_core.selectedArea();
    if (area.kind == AreaRef::Kind::None) {
      removeNodes(keepChain ? tr("Delete, keep children") : tr("Delete"), keepChain);
      return;
    }
    m_core.change(
        area.kind == AreaRef::Kind::Frame ? tr("Delete frame") : tr("Delete note"), [area](Document& next) {
          if (area.kind == AreaRef::Kind::Frame) {
            std::erase_if(next.frames, [area](const document::Frame& frame) { return frame.id == area.id; });
          } else {
            std::erase_if(next.notes, [area](const document::Note& note) { return note.id == area.id; });
          }
        });
    m_core.selectArea({});
  }

  /// Returns the node to select after these are removed: the next sibling, else the previous one, else the
  /// parent.
  NodeId neighbour(const std::vector<NodeId>& gone) const {
    if (gone.empty()) return kNoNode;
    const NodeId parent = document().at(gone.back()).parent;
    if (parent == kNoNode) return kNoNode;
    const auto stays = [&](NodeId id) {
      return id != kNoNode && std::find(gone.begin(), gone.end(), id) == gone.end();
    };
    const std::vector<NodeId>& siblings = document().at(parent).children;
    const auto at = std::find(siblings.begin(), siblings.end(), gone.back());
    const auto after = std::find_if(at, siblings.end(), stays);
    if (after != siblings.end()) return *after;
    const auto before = std::find_if(std::make_reverse_iterator(at), siblings.rend(), stays);
    return before != siblings.rend() ? *before : parent;
  }

  void removeNodes(const QString& name, bool keepChain) {
    const std::vector<NodeId> gone = m_core.selection();
    const NodeId next = neighbour(document::topmost(document(), gone));
    m_core.change(name, [&](Document& changed) {
      if (keepChain) {
        document::removeKeepingChain(changed, gone);
      } else {
        document::removeSubtrees(changed, gone);
      }
    });
    if (document().contains(next)) m_core.select({next});
  }

  // ---- order and connections ----
  bool canMove(int by) const {
    const DocumentNode* node = document().find(m_core.current());
    if (!editable() || node == nullptr || node->parent == kNoNode) return false;
    const DocumentNode& parent = document().at(node->parent);
    const auto index = static_cast<std::ptrdiff_t>(document().indexInParent(m_core.current())) + by;
    return arityOf(parent.own).ordered() && index >= 0 &&
           index < static_cast<std::ptrdiff_t>(parent.children.size());
  }

  void move(int by) {
    const NodeId id = m_core.current();
    const NodeId parent = document().at(id).parent;
    const std::size_t from = document().indexInParent(id);
    const std::size_t to = by < 0 ? from - 1 : from + 1;
    m_core.change(by < 0 ? tr("Move up") : tr("Move down"),
                  [&](Document& next) { document::swapChildren(next, parent, from, to); });
  }

  bool canDisconnect() const {
    return editable() && std::any_of(m_core.selection().begin(), m_core.selection().end(),
                                     [this](NodeId id) { return document().at(id).parent != kNoNode; });
  }

  void disconnect() {
    const auto layout = m_core.layout();
    m_core.change(tr("Disconnect"), [&](Document& next) {
      m_core.placeRoot(next);
      for (const NodeId id : m_core.selection()) {
        const auto rect = layout.find(id);
        if (!document::disconnect(next, id) || rect == layout.end()) continue;
        document::setPosition(next, id, Point{.x = rect->second.x, .y = rect->second.y});
      }
    });
  }

  // ---- operators ----
  std::vector<std::pair<NodeId, std::string>> plusAndCross() const {
    std::vector<std::pair<NodeId, std::string>> others;
    for (const NodeId id : m_core.selection()) {
      const std::string op = query::operatorName(document().at(id).own);
      if (op == "plus") others.emplace_back(id, "cross");
      if (op == "cross") others.emplace_back(id, "plus");
    }
    return others;
  }

  void switchPlusCross() {
    const auto others = plusAndCross();
    m_core.change(tr("Swap plus and cross"), [&](Document& next) {
      for (const auto& [id, op] : others) document::replaceOperator(next, id, op);
    });
  }

  NodeId topOf(NodeId id) const {
    while (document().contains(id) && document().at(id).parent != kNoNode) id = document().at(id).parent;
    return id;
  }

  bool canMakeRoot() const { return canEditNodes() && topOf(m_core.current()) != document().root(); }
  void makeRoot() {
    const NodeId top = topOf(m_core.current());
    m_core.change(tr(/*id:make-query*/ "Use draft as query"),
                  [top](Document& next) { document::makeRoot(next, top); });
  }

  // ---- looks ----
  void toggleMuted() {
    const std::vector<NodeId>& ids = m_core.selection();
    const bool on =
        std::any_of(ids.begin(), ids.end(), [this](NodeId id) { return !document().at(id).muted; });
    m_core.change(on ? tr("Mute") : tr("Unmute"), [&](Document& next) { document::setMuted(next, ids, on); });
  }

  bool canFreeze() const {
    const DocumentNode* node = document().find(m_core.current());
    if (!editable() || node == nullptr || document::mostAnswers(node->own) == 0) return false;
    const NodeStatus& status = m_core.statusOf(m_core.current());
    if (node->isFrozen()) return true;
    const bool isOne = document::mostAnswers(node->own) == 1;
    return status.phase == NodePhase::Finished && (!isOne || !status.answer.empty());
  }

  void toggleFrozen() {
    const NodeId id = m_core.current();
    if (document().at(id).isFrozen()) {
      m_core.change(tr("Unfreeze answer"), [id](Document& next) { document::setFrozen(next, id, {}); });
      return;
    }
    const FreezableAnswers found = freezableAnswers(*m_core.input(), id, m_core.statusOf(id));
    if (found.answers.empty()) {
      m_core.say(found.problem);
      return;
    }
    m_core.change(tr("Freeze answer"), [&](Document& next) { document::setFrozen(next, id, found.answers); });
  }

  bool canCollapse() const {
    return editable() && std::any_of(m_core.selection().begin(), m_core.selection().end(), [this](NodeId id) {
             return document().at(id).collapsed || document().subtree(id).size() > 1;
           });
  }

  void toggleCollapsed() {
    std::vector<NodeId> ids = m_core.selection();
    std::erase_if(
        ids, [this](NodeId id) { return !document().at(id).collapsed && document().subtree(id).size() < 2; });
    const bool on =
        std::any_of(ids.begin(), ids.end(), [this](NodeId id) { return !document().at(id).collapsed; });
    m_core.change(on ? tr("Collapse") : tr("Expand"),
                  [&](Document& next) { document::setCollapsed(next, ids, on); });
  }

  /// Adds a frame and selects it. Returns whether it was added.
  bool frame() {
    QRectF around;
    for (const NodeId id : m_core.selection()) {
      if (const Rect* rect = m_core.rectOf(id)) around |= QRectF(rect->x, rect->y, rect->width, rect->height);
    }
    if (around.isNull()) return false;
    around.adjust(-kFrameMargin, -kFrameMargin - kFrameTitleHeight, kFrameMargin, kFrameMargin);
    AreaRef added{AreaRef::Kind::Frame, 0};
    m_core.change(tr("Frame"), [&](Document& next) {
      added.id = next.takeId();
      const auto hue = static_cast<std::uint32_t>(next.frames.size() % kFrameHues);
      next.frames.push_back(
          {.id = added.id,
           .title = tr("Frame").toStdString(),
           .area = {.x = around.x(), .y = around.y(), .width = around.width(), .height = around.height()},
           .hue = hue});
    });
    m_core.selectArea(added);
    return true;
  }

  void note() {
    const QPointF at = m_pointer();
    AreaRef added{AreaRef::Kind::Note, 0};
    m_core.change(tr("Note"), [&](Document& next) {
      added.id = next.takeId();
      next.notes.push_back({.id = added.id,
                            .text = tr("Note").toStdString(),
                            .area = {.x = at.x(), .y = at.y(), .width = kNoteWidth, .height = kNoteHeight}});
    });
    m_core.selectArea(added);
  }

  bool canTidy() const {
    const std::vector<NodeId> ids = m_core.selection().empty() ? document().ids() : m_core.selection();
    return editable() && std::any_of(ids.begin(), ids.end(), [this](NodeId id) {
             const DocumentNode& node = document().at(id);
             return node.position || !node.bends.empty();
           });
  }

  void tidy() {
    const std::vector<NodeId> ids = m_core.selection().empty() ? document().ids() : m_core.selection();
    m_core.change(tr("Tidy layout"), [&](Document& next) {
      for (const NodeId id : ids) {
        if (next.at(id).position) document::setPosition(next, id, std::nullopt);
        document::setBends(next, id, {});
      }
    });
  }

  // ---- lining up ----
  /// Returns the selected nodes that are drawn as separate cards.
  std::vector<NodeId> placeable() const {
    std::vector<NodeId> ids = m_core.selection();
    std::erase_if(
        ids, [this](NodeId id) { return m_core.rectOf(id) == nullptr || m_core.stacks().of(id) != nullptr; });
    return ids;
  }
  /// The selected stacks.
  std::size_t stacksSelected() const {
    std::set<NodeId> firsts;
    for (const NodeId id : m_core.selection())
      if (const Stack* stack = m_core.stacks().of(id)) firsts.insert(stack->members.front());
    return firsts.size();
  }
  bool canLineUp(std::size_t least) const {
    return editable() && placeable().size() + stacksSelected() >= least;
  }

  /// Whether any nodes cover each other in the document that do not cover each other now.
  bool covers(const Document& next) const {
    const std::map<NodeId, Rect>& before = m_core.layout();
    const std::map<NodeId, Rect> after = tidyLayout(next, m_core.stacks());
    const auto meet = [](const Rect& one, const Rect& other) {
      return one.x < other.x + other.width && other.x < one.x + one.width && one.y < other.y + other.height &&
             other.y < one.y + one.height;
    };
    for (auto one = after.begin(); one != after.end(); ++one) {
      const auto oneBefore = before.find(one->first);
      for (auto other = std::next(one); other != after.end(); ++other) {
        if (!meet(one->second, other->second)) continue;
        const auto otherBefore = before.find(other->first);
        if (oneBefore == before.end() || otherBefore == before.end() ||
            !meet(oneBefore->second, otherBefore->second))
          return true;
      }
    }
    return false;
  }

  void lineUp(const QString& name, std::size_t least, const std::function<void(std::vector<Rect>&)>& move) {
    const std::vector<NodeId> ids = placeable();
    const QString ofStacks = stacksSelected() == 0
                                 ? QString()
                                 : tr("A stack cannot be aligned. Open the stack to align its nodes.");
    if (ids.size() < least) return m_core.say(ofStacks);
    std::vector<Rect> rects;
    for (const NodeId id : ids) rects.push_back(*m_core.rectOf(id));
    const std::vector<Rect> before = rects;
    move(rects);
    const auto place = [&](Document& next) {
      // Sets all positions, because other selected nodes would move with the top of their tree.
      for (std::size_t i = 0; i < ids.size(); ++i)
        document::setPosition(next, ids[i], Point{.x = rects[i].x, .y = rects[i].y});
    };
    if (rects != before) {
      Document next = document();
      place(next);
      if (covers(next))
        return m_core.say(tr("%1: nodes would cover each other. Move the nodes apart first.").arg(name));
      m_core.change(name, place);
    }
    if (!ofStacks.isEmpty()) m_core.say(ofStacks);
  }

  bool canStraighten() const {
    return editable() && std::any_of(m_core.selection().begin(), m_core.selection().end(),
                                     [this](NodeId id) { return !document().at(id).bends.empty(); });
  }

  void straighten() {
    m_core.change(tr("Straighten wire"), [this](Document& next) {
      for (const NodeId id : m_core.selection()) document::setBends(next, id, {});
    });
  }

  void selectAll() {
    std::vector<NodeId> all;
    for (const NodeId top : document().tops()) {
      for (const NodeId id : document().subtree(top)) {
        if (m_core.rectOf(id) != nullptr || m_core.stacks().of(id) != nullptr) all.push_back(id);
      }
    }
    m_core.select(all);
  }

 private:
  CanvasCore& m_core;
  std::function<QPointF()> m_pointer;
};

}  // namespace

void addDocumentCommands(CommandHandlers& commands, CanvasCore& core, std::function<QPointF()> pointer) {
  auto own = std::make_shared<DocumentCommands>(core, std::move(pointer));
  const auto nodes = [own] { return own->canEditNodes(); };
  commands.add(
      "edit.copy", [own] { return own->hasNodes(); }, [own] { own->copy(); });
  commands.add("edit.cut", nodes, [own] { own->cut(); });
  commands.add(
      "edit.paste", [own] { return own->editable(); }, [own] { own->paste(); });
  commands.add("edit.duplicate", nodes, [own] { own->duplicate(); });
  commands.add(
      "edit.delete", [own] { return own->canRemove(); }, [own] { own->remove(false); });
  commands.add(
      "edit.delete-keep", [own] { return own->canRemove(); }, [own] { own->remove(true); });
  commands.add(
      "edit.select-all", [own] { return own->document().size() > 0; }, [own] { own->selectAll(); });
  commands.add(
      "node.move-up", [own] { return own->canMove(-1); }, [own] { own->move(-1); });
  commands.add(
      "node.move-down", [own] { return own->canMove(1); }, [own] { own->move(1); });
  commands.add(
      "node.disconnect", [own] { return own->canDisconnect(); }, [own] { own->disconnect(); });
  commands.add(
      "node.plus-cross", [own] { return own->editable() && !own->plusAndCross().empty(); },
      [own] { own->switchPlusCross(); });
  commands.add(
      "node.make-root", [own] { return own->canMakeRoot(); }, [own] { own->makeRoot(); });
  commands.add("node.mute", nodes, [own] { own->toggleMuted(); });
  commands.add(
      "node.freeze", [own] { return own->canFreeze(); }, [own] { own->toggleFrozen(); });
  commands.add(
      "node.collapse", [own] { return own->canCollapse(); }, [own] { own->toggleCollapsed(); });
  // Opens the editor for the text. The call is queued, because the menu must first return the focus.
  const auto askForText = [&commands, &core] {
    QMetaObject::invokeMethod(
        &core,
        [&commands, &core] {
          if (core.selectedArea().kind != AreaRef::Kind::None)
            commands.perform(QStringLiteral("node.rename"));
        },
        Qt::QueuedConnection);
  };
  commands.add("node.frame", nodes, [own, askForText] {
    if (own->frame()) askForText();
  });
  commands.add(
      "node.note", [own] { return own->editable(); },
      [own, askForText] {
        own->note();
        askForText();
      });
  commands.add(
      "node.tidy", [own] { return own->canTidy(); }, [own] { own->tidy(); });
  commands.add(
      "node.straighten", [own] { return own->canStraighten(); }, [own] { own->straighten(); });
  // An undo step has the name of its command in the menu.
  const auto addLineUp = [&commands, own](const char* id, std::size_t least,
                                          std::function<void(std::vector<Rect>&)> move) {
    commands.add(
        id, [own, least] { return own->canLineUp(least); },
        [own, id, least, move = std::move(move)] {
          const CommandInfo* info = findCommand(QLatin1String(id));
          own->lineUp(info == nullptr ? QString() : info->text, least, move);
        });
  };
  const auto addAlign = [&addLineUp](const char* id, Alignment to) {
    addLineUp(id, 2, [to](std::vector<Rect>& rects) { align(rects, to); });
  };
  addAlign("node.align-left", Alignment::Left);
  addAlign("node.align-center", Alignment::Center);
  addAlign("node.align-right", Alignment::Right);
  addAlign("node.align-top", Alignment::Top);
  addAlign("node.align-middle", Alignment::Middle);
  addAlign("node.align-bottom", Alignment::Bottom);
  addLineUp("node.distribute-across", 3, [](std::vector<Rect>& rects) { distribute(rects, Qt::Horizontal); });
  addLineUp("node.distribute-down", 3, [](std::vector<Rect>& rects) { distribute(rects, Qt::Vertical); });
}

}  // namespace spanscope::ui
