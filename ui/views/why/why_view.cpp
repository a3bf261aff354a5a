// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/why/why_view.h"

#include "engine/trace/miss_reasons.h"
#include "ui/views/common/block_painter.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/why/why_context.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <QFontMetrics>
#include <QPainter>
#include <QPainterPath>
#include <QScrollBar>
#include <QTextBrowser>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>
#include <variant>

namespace spanscope::ui {

/// The verdict as a rounded label, in the colour of its role.
class VerdictChip : public QWidget {
 public:
  explicit VerdictChip(QWidget* parent) : QWidget(parent) { setFixedHeight(kHeight + 4 * kSpace); }

  void showVerdict(const QString& text, BlockRole role, const Theme& theme) {
    m_text = text;
    m_role = role;
    m_painter.setTheme(theme);
    setAccessibleName(text);
    update();
  }

 protected:
  void paintEvent(QPaintEvent* /*event*/) override {
    QPainter painter(this);
    const Theme& theme = m_painter.theme();
    painter.fillRect(rect(), theme.color(Role::Surface));
    if (m_text.isEmpty()) return;
    painter.setRenderHint(QPainter::Antialiasing);
    QFont font = theme.interfaceFont();
    painter.setFont(font);
    const int width =
        std::min(QFontMetrics(font).horizontalAdvance(m_text) + 6 * kSpace, this->width() - 6 * kSpace);
    const QRectF pill(3 * kSpace, 3 * kSpace, width, kHeight);
    QPainterPath path;
    path.addRoundedRect(pill, kHeight / 2.0, kHeight / 2.0);
    painter.fillPath(path, m_role == BlockRole::Free ? theme.color(Role::Window) : theme.fill(m_role));
    painter.setPen(m_role == BlockRole::Free ? theme.color(Role::TextSecond) : theme.ink(m_role));
    painter.drawText(pill, Qt::AlignCenter, m_text);
  }

 private:
  static constexpr int kHeight = 24;
  QString m_text;
  BlockRole m_role = BlockRole::Free;
  BlockPainter m_painter;
};

WhyView::WhyView(QWidget* parent)
    : InputView(kRunParts | InputPart::WholeTrace, Pace::EveryInput, parent),
      m_chip(new VerdictChip(this)),
      m_text(new QTextBrowser(this)) {
  setAccessibleName(tr("Why"));
  setFocusProxy(m_text);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_chip);
  column->addWidget(m_text, 1);
  m_text->setFrameShape(QFrame::NoFrame);
  m_text->setOpenLinks(false);
  m_text->setAccessibleName(tr("Why the selected block was a hit or a miss"));
  m_text->document()->setDocumentMargin(2 * kSpace);
  connect(m_text, &QTextBrowser::anchorClicked, this, &WhyView::followUrl);
  m_chip->hide();
}

void WhyView::refresh() {
  m_history.follow(input()->trace);
  Why next = why(*input(), m_history, &m_changes);
  if (m_any && next == m_why && m_drawn == theme()) return;
  const bool other = next.block != m_why.block;
  m_why = std::move(next);
  m_drawn = theme();
  m_any = true;

  m_text->setStyleSheet(QStringLiteral("QTextBrowser { background: %1; color: %2; border: 1px solid %1; }"
                                       "QTextBrowser:focus { border-color: %3; }")
                            .arg(theme().color(Role::Surface).name(), theme().color(Role::Text).name(),
                                 theme().color(Role::Accent).name()));
  m_text->setFont(theme().interfaceFont());
  m_chip->setVisible(m_why.empty.isEmpty());
  m_chip->showVerdict(m_why.verdict, m_why.role, theme());
  const int scrolled = m_text->verticalScrollBar()->value();
  m_text->setHtml(html());
  // A live run refreshes the numbers of the same block. The refresh must not scroll the text.
  m_text->verticalScrollBar()->setValue(other ? 0 : scrolled);
  setAccessibleDescription(whyText(m_why));
  if (m_summary == m_why.place) return;
  m_summary = m_why.place;
  Q_EMIT summaryChanged(m_summary);
}

QString WhyView::anchor(const WhyText& text) {
  QString html = text.text.toHtmlEscaped();
  if (!text.linkText.isEmpty()) {
    html += QStringLiteral("<a href=\"why:%1\" style=\"color:%2;text-decoration:none\">%3</a>")
                .arg(QString::number(m_links.size()), theme().color(Role::Accent).name(),
                     text.linkText.toHtmlEscaped());
    m_links.push_back(text.link);
  }
  html += text.after.toHtmlEscaped();
  // A line may break between special tokens, and not inside.
  html.replace(QChar(0x2039), QStringLiteral("\u200b\u2039"));
  return html.replace(QChar(0x203A), QStringLiteral("\u203a\u200b"));
}

QString WhyView::factTable(std::size_t begin, std::size_t end) {
  if (begin >= end) return {};
  QString html =
      QStringLiteral("<table width=\"100%\" cellspacing=\"0\" cellpadding=\"4\" style=\"margin-top:8px\">");
  const QString rule = QStringLiteral("border-bottom:1px solid %1").arg(theme().color(Role::Line).name());
  for (std::size_t i = begin; i < end; ++i) {
    const WhyFact& fact = m_why.facts[i];
    html += QStringLiteral("<tr><td width=\"104\" style=\"color:%1;font-size:12px;%3\">%2</td>")
                .arg(theme().color(Role::TextSecond).name(), fact.label.toHtmlEscaped(), rule);
    html += QStringLiteral("<td style=\"font-size:12px;%2\">%1</td></tr>").arg(anchor(fact.value), rule);
  }
  return html + QStringLiteral("</table>");
}

QString WhyView::html() {
  m_links.clear();
  const auto colour = [this](Role role) { return theme().color(role).name(); };
  if (!m_why.empty.isEmpty()) {
    return QStringLiteral("<p style=\"color:%1\">%2</p>")
        .arg(colour(Role::TextThird), m_why.empty.toHtmlEscaped());
  }
  QString html;
  if (!m_why.ofNode.isEmpty())
    html = QStringLiteral("<p style=\"margin:4px;color:%1\">%2</p>")
               .arg(colour(Role::TextSecond), m_why.ofNode.toHtmlEscaped());
  const std::size_t leading = std::min(m_why.leadingFacts, m_why.facts.size());
  html += factTable(0, leading);
  html += QStringLiteral("<p style=\"margin:4px\">%1</p>").arg(m_why.sentence);
  html += factTable(leading, m_why.facts.size());
  if (m_why.otherwise.empty()) return html;
  html += QStringLiteral("<p style=\"margin:12px 4px 4px 4px;font-size:12px\"><b>%1</b></p>")
              .arg(m_why.otherwiseTitle.toHtmlEscaped());
  for (const WhyText& text : m_why.otherwise) {
    html += QStringLiteral("<p style=\"margin:0 4px 4px 4px;color:%1\">· %2</p>")
                .arg(colour(Role::TextSecond), anchor(text));
  }
  return html;
}

void WhyView::followUrl(const QUrl& url) {
  bool number = false;
  const std::size_t index = url.path().toULongLong(&number);
  if (number && index < m_links.size()) follow(WhyLink(m_links[index]));
}

void WhyView::follow(const WhyLink& link) {
  if (input() == nullptr) return;
  if (link.node != document::kNoNode) {
    Selection selection = input()->selection;
    selection.nodes = {link.node};
    Q_EMIT selectionWanted(selection);
  } else if (link.block) {
    Q_EMIT selectionWanted(selectionOfBlock(*input(), *link.block));
  }
  if (link.position) Q_EMIT positionWanted(*link.position);
  if (!link.command.isEmpty()) Q_EMIT commandWanted(link.command);
}

QString WhyView::csv() const {
  if (input() == nullptr) return {};
  BlockHistory history;
  history.follow(input()->trace);
  return whyCsv(why(*input(), history));
}

ViewInfo whyRow() {
  return {.id = QStringLiteral("why"),
          .title = tr("Why"),
          .help = tr("Why the selected block was a hit or a miss, and which changes reverse this result"),
          .make = makeViewOf<WhyView>,
          .needs = {Fact::BlockLookups},
          .places = {{LayoutId::Explain, Room::Low, Room::Low, 1, 1, 0, 55},
                     {LayoutId::Explain, Room::Middle, Room::Middle, 1, 1, 0, 66},
                     {LayoutId::Explain, Room::Full, Room::Large, 1, 1, 0, 30}},
          .explainsBlocks = true};
}

namespace {

using trace::LookupOutcome;
using trace::MissReason;

QString bold(const QString& text) {
  return QStringLiteral("<b>%1</b>").arg(text.toHtmlEscaped());
}

std::optional<BlockRef> selectedBlock(const ViewInput& input) {
  const Selection& selection = input.selection;
  if (selection.block) return selection.block;
  if (selection.token) {
    const std::int32_t size = std::max(1, input.state().pool().blockSize());
    return BlockRef{selection.token->request, selection.token->segment, selection.token->local / size};
  }
  return placeOf(input.state(), input.shownRequest(), selection.physical);
}

/// The sentence of one block.
class Sentence {
  Q_DECLARE_TR_FUNCTIONS(spanscope::ui::Sentence)
 public:
  explicit Sentence(const WhyContext& context) : m_context(context) {}

  QString text() const {
    if (m_context.lookup == nullptr) return notLookedUp();
    switch (m_context.lookup->outcome) {
      case LookupOutcome::Hit:
        return belongs() +
               tr(" The block is a hit at its stored position, so none of its tokens were computed.");
      case LookupOutcome::Relocated:
        return relocated();
      case LookupOutcome::Partial:
        if (m_context.recomputed > 0)
          return tr("The cache had %1 of the block's %2 tokens. The policy copied %3 of these tokens and "
                    "recomputed %4. ")
                     .arg(m_context.lookup->tokens)
                     .arg(m_context.lookup->wanted)
                     .arg(m_context.copied())
                     .arg(m_context.recomputed) +
                 reason();
        if (m_context.lookup->tokens >= m_context.lookup->wanted)
          return tr("The cache had all %1 tokens of the block and copied these tokens. ")
                     .arg(m_context.lookup->tokens) +
                 reason();
        return tr("The cache had the first %1 of the block's %2 tokens and copied these tokens. The rest was "
                  "computed. ")
                   .arg(m_context.lookup->tokens)
                   .arg(m_context.lookup->wanted) +
               reason();
      case LookupOutcome::Miss:
        break;
    }
    return reason();
  }

 private:
  QString name() const { return bold(m_context.segmentName()); }

  QString belongs() const {
    if (m_context.segment->independent) {
      const document::NodeId plus = m_context.parentJoin(query::JoinKind::Plus);
      return plus == document::kNoNode
                 ? tr("This block belongs to %1, which attends only to itself.").arg(name())
                 : tr("This block belongs to %1, a child of %2, which attends only to itself.")
                       .arg(name(), bold(tr("plus")));
    }
    const std::size_t sees = m_context.segment->sees.size();
    if (sees == 0)
      return tr("This block belongs to %1. All earlier tokens of its segment are the same as when the block "
                "was "
                "stored.")
          .arg(name());
    return (sees == 1 ? tr("This block belongs to %1, which attends to %2 earlier segment. This segment is "
                           "the same as when the block was stored.")
                      : tr("This block belongs to %1, which attends to %2 earlier segments. These segments "
                           "are the same as when the block was stored."))
        .arg(name())
        .arg(sees);
  }

  QString relocated() const {
    if (!m_context.segment->sees.empty()) {
      return tr("This block belongs to %1. The block attends to the same segments at the same distances, so "
                "its keys are valid here too.")
          .arg(name());
    }
    const document::NodeId plus = m_context.parentJoin(query::JoinKind::Plus);
    if (m_context.segment->independent && plus != document::kNoNode) {
      return tr("This block belongs to %1, a child of %2. The block was computed without earlier text, so "
                "its keys are valid at any position.")
          .arg(name(), bold(tr("plus")));
    }
    return tr("This block belongs to %1. The block was computed without earlier text, so its keys are valid "
              "at any position.")
        .arg(name());
  }

  QString notLookedUp() const {
    if (m_context.facts->prompt == 0) {
      return tr(
          "This block has generated tokens. After a token is sampled, the next forward pass computes the "
          "token, without a lookup. A later prompt that continues from here can reuse these tokens.");
    }
    return tr("This block of %1 has not been looked up yet.").arg(name());
  }

  QString reason() const {
    const trace::BlockLookedUp& lookup = *m_context.lookup;
    if (lookup.reason == MissReason::None) return {};
    if (lookup.reason == MissReason::Evicted && m_context.hasSlots())
      return tr(/*id:why-slot-replaced*/
                "A slot of the server had this block of %1. Another prompt in the slot "
                "then replaced everything after the common prefix.")
          .arg(name());
    if (lookup.reason == MissReason::AfterMiss) {
      const VirtualBlockFacts* const missed = m_context.firstMissed();
      const QString where = missed == nullptr ? QString() : m_context.nameOfBlock(missed->place);
      if (!where.isEmpty() && where != m_context.segmentName())
        return tr(/*id:why-miss-elsewhere*/
                  "Block %1, in %2, was not a full hit. Keys and values depend on all earlier tokens, so "
                  "this "
                  "block of %3 was computed, too.")
            .arg(QString::number(missed->number), bold(where), name());
    }
    const QString sentence = missWord(trace::sentenceOf(lookup, m_context.blocks.blockSize));
    return lookup.reason == MissReason::TokensDiffer && lookup.tokenStored >= 0
               ? sentence.arg(name(), QString::number(lookup.differsAt))
           : sentence.contains(QLatin1String("%1")) ? sentence.arg(name())
                                                    : sentence;
  }

  const WhyContext& m_context;
};

void judge(const WhyContext& context, Why& why) {
  why.role = context.facts->role;
  if (context.lookup == nullptr) {
    why.verdict = context.facts->prompt == 0 ? tr("generated") : tr("not looked up yet");
    return;
  }
  const bool isReplaced = context.lookup->reason == MissReason::Evicted && context.hasSlots();
  const QString reason = isReplaced ? tr(/*id:why-replaced*/ "replaced in its slot")
                                    : missWord(trace::infoOf(context.lookup->reason).words);
  switch (context.lookup->outcome) {
    case LookupOutcome::Hit:
      why.verdict = tr("hit");
      why.role = BlockRole::Hit;
      return;
    case LookupOutcome::Relocated:
      why.verdict = tr("relocated hit");
      why.role = BlockRole::Relocated;
      return;
    case LookupOutcome::Partial:
      why.verdict = reason.isEmpty() ? tr("partial hit") : tr("partial hit: %1").arg(reason);
      break;
    case LookupOutcome::Miss:
      why.verdict = reason.isEmpty() ? tr("miss") : tr("miss: %1").arg(reason);
      break;
  }
  why.role = BlockRole::Computed;
}

}  // namespace

namespace {

/// Which block of the selected node, or of the prompt if no node is selected, is explained.
QString nodeText(const NodeBlocks& blocks, bool isPrompt) {
  if (blocks.blocks == 1) return isPrompt ? tr("The prompt has one block:") : tr("This node has one block:");
  if (blocks.misses == 0)
    return (isPrompt ? tr("All %1 blocks of the prompt were hits. The first one:")
                     : tr("All %1 blocks with tokens of this node were hits. The first one:"))
        .arg(blocks.blocks);
  return (isPrompt ? tr(/*id:why-prompt-misses*/ "%1 of %2 blocks of the prompt were misses or partial hits. "
                                                 "The first one:")
                   : tr(/*id:why-node-misses*/ "%1 of %2 blocks with tokens of this node were misses or "
                                               "partial hits. The first one:"))
      .arg(blocks.misses)
      .arg(blocks.blocks);
}

/// Why there is no block of a selected node to explain.
QString nothingOfNode(const ViewInput& input, const RequestBlocks& blocks) {
  const QString request = requestName(input.state(), blocks.request);
  const auto isLookedUp = [](const SegmentVirtualBlocks& segment) {
    return std::any_of(segment.blocks.begin(), segment.blocks.end(),
                       [](const VirtualBlockFacts& block) { return block.lookup != 0; });
  };
  if (!std::any_of(blocks.segments.begin(), blocks.segments.end(), isLookedUp))
    return tr("The trace reports no cache lookups of %1.").arg(request);
  return tr(/*id:why-node-absent*/
            "The prompt of %1 has no tokens of the selected node. Select a node of that "
            "prompt, or a block.")
      .arg(request);
}

}  // namespace

const WhyFact* Why::fact(const QString& label) const {
  const auto found =
      std::find_if(facts.begin(), facts.end(), [&label](const WhyFact& own) { return own.label == label; });
  return found == facts.end() ? nullptr : &*found;
}

Why why(const ViewInput& input, const BlockHistory& history, WhyChangesMemo* memo) {
  Why result;
  std::optional<BlockRef> place = selectedBlock(input);
  const RequestId shown = input.shownRequest();
  const document::NodeId node = input.selection.currentNode();
  if (!place && shown != 0) {
    const RequestBlocks blocks = requestBlocks(*input.trace, input.state(), shown);
    if (const std::optional<NodeBlocks> ofNode = blocksOfNode(input, blocks, node)) {
      place = ofNode->shown;
      result.ofNode = nodeText(*ofNode, node == document::kNoNode);
    } else if (node != document::kNoNode) {
      result.empty = nothingOfNode(input, blocks);
      return result;
    }
  }
  result.empty =
      shown != 0
          ? tr("Select a node, a block or a token to see why it was a hit or a miss.")
          : tr("Run a query. Then select a node, a block or a token to see why it was a hit or a miss.");
  if (!place) return result;
  // whyChanges() must run before the context exists, which refers to the last state from stateAt().
  WhyChanges changes = whyChanges(input, *place, memo);
  const WhyContext context(input, history, *place, std::move(changes));
  if (context.facts == nullptr) return result;
  result.empty.clear();
  result.block = *place;
  result.place = context.facts->number < 0 ? tr("hidden block") : tr("block %1").arg(context.facts->number);
  if (context.facts->physical != kNullBlock) result.place += tr(" → #%1").arg(context.facts->physical);
  judge(context, result);
  result.sentence = Sentence(context).text();
  addWhyFacts(context, result);
  addOtherwise(context, result);
  return result;
}

QString whyText(const Why& why) {
  if (!why.empty.isEmpty()) return why.empty;
  QString sentence = why.sentence;
  sentence.remove(QStringLiteral("<b>")).remove(QStringLiteral("</b>"));
  sentence.replace(QStringLiteral("&lt;"), QStringLiteral("<"))
      .replace(QStringLiteral("&gt;"), QStringLiteral(">"))
      .replace(QStringLiteral("&quot;"), QStringLiteral("\""))
      .replace(QStringLiteral("&amp;"), QStringLiteral("&"));
  const auto plain = [](const WhyText& text) { return text.text + text.linkText + text.after; };
  QStringList lines{why.place, why.verdict};
  if (!why.ofNode.isEmpty()) lines.prepend(why.ofNode);
  for (std::size_t i = 0; i < why.facts.size(); ++i) {
    if (i == why.leadingFacts) lines << sentence;
    lines << why.facts[i].label + QStringLiteral(": ") + plain(why.facts[i].value);
  }
  if (why.leadingFacts >= why.facts.size()) lines << sentence;
  if (!why.otherwise.empty()) lines << why.otherwiseTitle;
  for (const WhyText& text : why.otherwise) lines << QStringLiteral("- ") + plain(text);
  return lines.join(QLatin1Char('\n'));
}

QString whyCsv(const Why& why) {
  if (!why.empty.isEmpty()) return {};
  QString csv = csvLine({QStringLiteral("fact"), QStringLiteral("value")});
  csv += csvLine({QStringLiteral("Block"), why.place});
  csv += csvLine({QStringLiteral("Verdict"), why.verdict});
  for (const WhyFact& fact : why.facts)
    csv += csvLine({fact.label, fact.value.text + fact.value.linkText + fact.value.after});
  return csv;
}

namespace {

template <class Payload>
const Payload* payloadAt(const TraceStore& trace, std::size_t index) {
  return std::get_if<Payload>(&trace.event(index).payload);
}

/// The lookups of one segment are consecutive events. Returns this one and those before it.
std::vector<trace::BlockLookedUp> lookupsUpTo(const TraceStore& trace, std::size_t index) {
  const RequestId request = trace.event(index).request;
  const std::uint32_t segment = payloadAt<trace::BlockLookedUp>(trace, index)->segment;
  const auto isOne = [&](std::size_t at) {
    const auto* lookup = payloadAt<trace::BlockLookedUp>(trace, at);
    return lookup != nullptr && trace.event(at).request == request && lookup->segment == segment;
  };
  std::size_t begin = index;
  while (begin > 0 && isOne(begin - 1)) --begin;
  std::vector<trace::BlockLookedUp> lookups;
  for (std::size_t at = begin; at <= index; ++at)
    lookups.push_back(*payloadAt<trace::BlockLookedUp>(trace, at));
  return lookups;
}

/// The parent key of a first block in a segment that attends to no earlier segment.
std::optional<trace::BlockKey> plainRootOf(const trace::Replay& state, const trace::PoolState& pool) {
  const auto& requests = state.progress().requests;
  for (const trace::BlockState& block : pool.blocks) {
    if (!block.cached || block.virtualIndex != 0) continue;
    const auto by = requests.find(block.storedByRequest);
    if (by == requests.end()) continue;
    for (const trace::SegmentInfo& segment : by->second.segments) {
      const bool isIt = segment.node == block.storedByNode && segment.base == block.base &&
                        segment.tokens.size() >= block.tokens.size() &&
                        std::equal(block.tokens.begin(), block.tokens.end(), segment.tokens.begin());
      if (isIt && segment.sees.empty()) return block.parent;
    }
  }
  return std::nullopt;
}

/// The number of additional pool blocks that would have kept the evicted content. The number is the smaller
/// of two counts:
/// - evictions since the content was stored
/// - blocks allocated or shared and first lookups of segments, both since its release, minus the blocks then
///   free.
/// The first lookup of a segment counts because it may copy from a block. The engine's own count starts at
/// the last use, so the engine's count is more exact.
std::optional<std::uint64_t> blocksToKeep(const TraceStore& trace, std::uint64_t evictedBy,
                                          std::size_t lookup) {
  const std::optional<std::size_t> taken = trace.indexOf(evictedBy);
  if (!taken || !trace.stateAt(lookup).progress().whole) return std::nullopt;
  const auto* removed = payloadAt<trace::BlockRemoved>(trace, *taken);
  if (removed == nullptr) return std::nullopt;
  std::size_t stored = *taken;
  const auto isStored = [&](std::size_t at) {
    const auto* event = payloadAt<trace::BlockStored>(trace, at);
    return event != nullptr && event->block == removed->block && event->key == removed->key;
  };
  while (stored > 0 && !isStored(stored)) --stored;
  if (!isStored(stored)) return std::nullopt;
  std::uint64_t evicted = 0;
  std::uint64_t touched = 0;
  std::optional<std::size_t> released;
  for (std::size_t at = stored; at < lookup; ++at) {
    if (payloadAt<trace::CacheCleared>(trace, at) != nullptr) return std::nullopt;
    // A run that failed for lack of blocks would have used more blocks of a larger pool.
    const auto* ended = payloadAt<trace::RunFinished>(trace, at);
    if (ended != nullptr && ended->outcome == trace::RunOutcome::Failed) return std::nullopt;
    const auto* release = payloadAt<trace::BlockReleased>(trace, at);
    if (!released && release != nullptr && release->block == removed->block && release->references == 0)
      released = at;
    const auto* eviction = payloadAt<trace::BlockRemoved>(trace, at);
    if (eviction != nullptr && eviction->reason == trace::RemovalReason::Evicted) ++evicted;
    if (!released) continue;
    const auto* segment = payloadAt<trace::BlockLookedUp>(trace, at);
    if (payloadAt<trace::BlockAllocated>(trace, at) != nullptr ||
        payloadAt<trace::BlockShared>(trace, at) != nullptr ||
        (segment != nullptr && segment->virtualIndex == 0))
      ++touched;
  }
  if (!released) return std::nullopt;
  const std::uint64_t inFront = trace.stateAt(*released).pool().freeCount();
  return std::max<std::uint64_t>(1, std::min(evicted, touched > inFront ? touched - inFront : 1));
}

}  // namespace

WhyChanges whyChanges(const ViewInput& input, const BlockRef& place, WhyChangesMemo* memo) {
  WhyChanges result;
  const TraceStore& trace = *input.trace;
  std::uint64_t sequence = 0;
  {
    const auto& requests = input.state().progress().requests;
    const auto request = requests.find(place.request);
    if (request == requests.end()) return result;
    const auto block = request->second.blocks.find({place.segment, place.virtualIndex});
    if (block != request->second.blocks.end()) sequence = block->second.lookup;
  }
  const std::optional<std::size_t> index = sequence == 0 ? std::nullopt : trace.indexOf(sequence);
  if (!index || payloadAt<trace::BlockLookedUp>(trace, *index) == nullptr) return result;
  if (memo != nullptr && memo->trace == input.trace && memo->lookup == sequence) return memo->changes;
  const trace::Replay then = trace.stateAt(*index);
  const auto request = then.progress().requests.find(place.request);
  if (then.progress().gap || request == then.progress().requests.end()) return result;
  const trace::PoolState pool = then.pool().state();
  const std::vector<trace::BlockLookedUp> lookups = lookupsUpTo(trace, *index);
  cache::WhatIfInput asked{
      .pool = pool,
      .lookups = lookups,
      .segments = {},
      .plainRoot = plainRootOf(then, pool),
      .blocksToKeep = [&](std::uint64_t evictedBy) { return blocksToKeep(trace, evictedBy, *index); }};
  for (const trace::SegmentInfo& segment : request->second.segments) {
    asked.segments.push_back({.tokens = segment.tokens,
                              .seesOthers = !segment.sees.empty(),
                              .messages = cache::messageBegins(segment.runs)});
  }
  result.changes = cache::whatIf(asked).back();
  for (const cache::WhatIf& change : result.changes) {
    if (change.block != kNullBlock)
      result.stored[change.block] = pool.blocks[static_cast<std::size_t>(change.block)];
  }
  result.blockCount = static_cast<std::int64_t>(pool.blocks.size());
  if (memo != nullptr) *memo = {.trace = input.trace, .lookup = sequence, .changes = result};
  return result;
}

}  // namespace spanscope::ui
