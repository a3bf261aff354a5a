// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/why/why_model.h"

#include "engine/trace/miss_reasons.h"
#include "ui/views/common/csv_line.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/why/why_context.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <algorithm>

namespace spanscope::ui {
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
        return belongs() + tr(" It was found where it was stored, so nothing of it was computed.");
      case LookupOutcome::Relocated:
        return relocated();
      case LookupOutcome::Partial:
        return tr("The first %1 of its %2 tokens were found and copied; the rest was computed. ")
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
                 ? tr("This block belongs to %1, which sees only itself.").arg(name())
                 : tr("This block belongs to %1, a child of %2, which sees only itself.")
                       .arg(name(), bold(tr("plus")));
    }
    const std::size_t sees = m_context.segment->sees.size();
    if (sees == 0) return tr("This block belongs to %1, which sees nothing before it.").arg(name());
    return (sees == 1 ? tr("This block belongs to %1, which sees %2 segment before it; it is the one "
                           "with which the block was stored.")
                      : tr("This block belongs to %1, which sees %2 segments before it; they are the ones "
                           "with which the block was stored."))
        .arg(name())
        .arg(sees);
  }

  QString relocated() const {
    if (!m_context.segment->sees.empty()) {
      return tr("This block belongs to %1. Everything it sees has moved with it, at the same distances, so "
                "its "
                "keys are right here too.")
          .arg(name());
    }
    const document::NodeId plus = m_context.parentJoin(query::JoinKind::Plus);
    if (m_context.segment->independent && plus != document::kNoNode) {
      return tr("This block belongs to %1, a child of %2: it was computed seeing only itself, so its keys "
                "are "
                "right wherever it stands.")
          .arg(name(), bold(tr("plus")));
    }
    return tr("This block belongs to %1: it was computed seeing only itself, so its keys are right wherever "
              "it "
              "stands.")
        .arg(name());
  }

  QString notLookedUp() const {
    if (m_context.facts->prompt == 0) {
      return tr(
          "This block holds generated tokens. They are computed as they are sampled and never looked up; "
          "a later prompt that goes on from here can find them.");
    }
    return tr("This block of %1 has not been looked up yet.").arg(name());
  }

  QString reason() const {
    const trace::BlockLookedUp& lookup = *m_context.lookup;
    if (lookup.reason == MissReason::None) return {};
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
  const QString reason = missWord(trace::infoOf(context.lookup->reason).words);
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
      why.verdict = reason.isEmpty() ? tr("found in part") : tr("found in part: %1").arg(reason);
      break;
    case LookupOutcome::Miss:
      why.verdict = reason.isEmpty() ? tr("miss") : tr("miss: %1").arg(reason);
      break;
  }
  why.role = BlockRole::Computed;
}

}  // namespace

const WhyFact* Why::fact(const QString& label) const {
  const auto found =
      std::find_if(facts.begin(), facts.end(), [&label](const WhyFact& own) { return own.label == label; });
  return found == facts.end() ? nullptr : &*found;
}

Why why(const ViewInput& input, const BlockHistory& history, WhyChangesMemo* memo) {
  Why result;
  const std::optional<BlockRef> place = selectedBlock(input);
  const bool any = input.shownRequest() != 0;
  result.empty = any ? tr("Select a block or a token to see why it was found or not.")
                     : tr("Run a query, then select a block or a token to see why it was found or not.");
  if (!place) return result;
  // Before the context is made: it refers to the state of the trace that was asked for last.
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
  QStringList lines{why.place, why.verdict, sentence};
  for (const WhyFact& fact : why.facts) lines << fact.label + QStringLiteral(": ") + plain(fact.value);
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

}  // namespace spanscope::ui
