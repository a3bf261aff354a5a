// SPDX-License-Identifier: GPL-3.0-or-later
// What would make a hit a miss or a miss a hit, in the why model. Only what holds by construction of the
// cache is said.
#include "ui/views/why/why_context.h"
#include "ui/words/tr.h"

namespace spanscope::ui {
namespace {

using trace::LookupOutcome;
using trace::MissReason;

class OtherwiseMaker {
  Q_DECLARE_TR_FUNCTIONS(spanscope::ui::OtherwiseMaker)
 public:
  OtherwiseMaker(const WhyContext& context, Why& why) : m_context(context), m_why(why) {}

  void make() {
    if (m_context.lookup == nullptr) return;
    const LookupOutcome outcome = m_context.lookup->outcome;
    if (outcome == LookupOutcome::Hit || outcome == LookupOutcome::Relocated) {
      m_why.otherwiseTitle = tr("It would be a miss if");
      addMisses();
      return;
    }
    m_why.otherwiseTitle =
        outcome == LookupOutcome::Partial ? tr("All of it would be a hit if") : tr("It would be a hit if");
    addHits();
  }

 private:
  void add(const QString& text, const QString& linkText = {}, const QString& after = {},
           const WhyLink& link = {}) {
    m_why.otherwise.push_back({text, linkText, after, link});
  }

  static WhyLink command(const char* id, document::NodeId node = document::kNoNode) {
    WhyLink link;
    link.command = QString::fromLatin1(id);
    link.node = node;
    return link;
  }

  /// The text of a message can be edited; what a generate answered cannot.
  document::NodeId editable() const {
    const document::NodeId id = m_context.node();
    const document::DocumentNode* node = m_context.input.document->find(id);
    return node != nullptr && node->own.as<query::Message>() != nullptr ? id : document::kNoNode;
  }

  bool standsBehindSomething() const {
    for (std::uint32_t i = 0; i < m_context.facts->place.segment; ++i) {
      if (!m_context.names[i].hidden) return true;
    }
    return false;
  }

  void addMisses() {
    const QString changed = tr("a token changed");
    QString where = m_context.segment->sees.empty()
                        ? tr(" in it, or before it in %1").arg(m_context.segmentName())
                        : tr(" in it, before it in %1, or in anything it sees").arg(m_context.segmentName());
    if (const document::NodeId node = editable(); node != document::kNoNode) {
      add({}, changed, where, command("node.edit", node));
    } else {
      add(changed + where);
    }
    const QString effect = tr(": it would then see what stands before it, and this block could not serve it");
    if (m_context.segment->independent && standsBehindSomething()) {
      const document::NodeId plus = m_context.parentJoin(query::JoinKind::Plus);
      if (plus != document::kNoNode)
        add({}, tr("plus became cross"), effect, command("node.plus-cross", plus));
    }
    add(tr("it had been evicted, or "), tr("the cache were emptied"), {}, command("run.clear-cache"));
  }

  void addHits() {
    addOwnSpan();
    switch (m_context.lookup->reason) {
      case MissReason::None:
        break;
      case MissReason::NeverSeen:
        addAgain(tr("the same tokens came again behind the same beginning"));
        break;
      case MissReason::TokensDiffer:
        addSameTokens();
        addPlus();
        break;
      case MissReason::ContextDiffers:
        if (m_context.lookup->contextDiffersAt < 0) {
          add(tr("it stood at positions between the same two steps as when #%1 was stored")
                  .arg(m_context.lookup->block));
          break;
        }
        add(tr("everything it sees were the same, in the same order and at the same distances, as "
               "when #%1 was "
               "stored")
                .arg(m_context.lookup->block));
        addPlus();
        break;
      case MissReason::Evicted:
        addLargerPool();
        addAgain(tr("it were asked for once more before it is evicted again"));
        break;
      case MissReason::AfterMiss:
        addAfterMiss();
        addPlus();
        break;
      case MissReason::LastToken:
        m_why.otherwiseTitle = tr("It is always so");
        add(tr(
            "the last token of a prompt is computed even where all of it is stored: the answer goes on from "
            "its result"));
        break;
      case MissReason::CacheOff:
        add(m_context.lookup->wanted < m_context.blocks.blockSize
                ? tr("blocks that are not full were kept too, and caching is on")
                : tr("caching were on"));
        break;
    }
  }

  /// The messages that a person can make a child of a plus, because they are stored as one.
  void addOwnSpan() {
    const cache::WhatIf* change = m_context.change(cache::Change::OwnSpan);
    if (change == nullptr) return;
    const std::uint32_t segment = m_context.facts->place.segment;
    const NodePath first = nodeOfToken(*m_context.request, segment, change->begin);
    const NodePath last = nodeOfToken(*m_context.request, segment, change->begin + change->count - 1);
    QString what = nodeName(m_context.input, m_context.request->run, first);
    if (last != first)
      what = tr("%1 to %2").arg(what, nodeName(m_context.input, m_context.request->run, last));
    const QString count =
        change->cached == change->count
            ? tr("its %1 tokens are stored so").arg(change->count)
            : tr("%1 of its %2 tokens are stored so").arg(change->cached).arg(change->count);
    WhyLink link;
    link.block = m_context.placeOfStored(change->block);
    const QString stored = m_context.storedIn(change->block);
    const QString text = tr("%1 stood under a plus, with the policy spans: %2 by ").arg(what, count);
    if (link.block) {
      add(text, stored, {}, link);
    } else {
      add(text + stored);
    }
  }

  /// In the measure of the setting, which counts the null block.
  void addLargerPool() {
    const cache::WhatIf* change = m_context.change(cache::Change::LargerPool);
    if (change == nullptr) {
      add(tr("the pool had had room to keep it: it has %1 blocks of %2 tokens")
              .arg(m_context.state.pool().blockCount() - 1)
              .arg(m_context.blocks.blockSize));
      return;
    }
    add(tr("the pool had been set to %1 blocks: so many would have kept it, fewer may do; it was set to %2")
            .arg(change->blockCount)
            .arg(m_context.state.pool().blockCount()));
  }

  /// What is stored now is found the next time it is asked for.
  void addAgain(const QString& condition) {
    if (!m_context.present()) {
      add(condition);
      return;
    }
    const QString rest = m_context.holdsLastToken()
                             ? tr(": all but the last token, which is always computed, is stored now as #%1")
                             : tr(": it is stored now as #%1");
    add(condition + rest.arg(m_context.facts->physical) + tr(" ("), tr("run it again"), tr(")"),
        command("run.run"));
  }

  void addSameTokens() {
    const trace::BlockLookedUp& lookup = *m_context.lookup;
    if (lookup.differsAt < 0) return;
    QString text;
    if (lookup.tokenStored < 0) {
      text = tr("%1 ended before its token %2, as the stored block does")
                 .arg(m_context.segmentName())
                 .arg(lookup.differsAt);
    } else {
      QStringList rest;
      const std::vector<TokenId> stored = m_context.storedTokens();
      const auto from = static_cast<std::size_t>(std::max(0, lookup.differsAt - m_context.firstToken()));
      for (std::size_t i = from; i < stored.size() && i < from + 8; ++i)
        rest << m_context.tokenText(stored[i]);
      if (rest.isEmpty()) rest << m_context.tokenText(lookup.tokenStored);
      if (from + 8 < stored.size()) rest << QString(QChar(0x2026));
      text = tr("from token %1 on it read %2, as the stored block does")
                 .arg(lookup.differsAt)
                 .arg(rest.join(QLatin1Char(' ')));
    }
    const document::NodeId node = editable();
    if (node != document::kNoNode) {
      add(text + tr(" ("), tr("edit the text"), tr(")"), command("node.edit", node));
    } else {
      add(text);
    }
  }

  void addAfterMiss() {
    const VirtualBlockFacts* missed = m_context.firstMissed();
    if (missed == nullptr) return;
    WhyLink link;
    link.block = missed->place;
    const QString stored =
        m_context.lookup->block == kNullBlock
            ? tr(", the first that was missing, had been found, and this one were stored behind it")
            : tr(" and those after it had been found: its own content is stored as #%1")
                  .arg(m_context.lookup->block);
    add({}, tr("block %1").arg(missed->number), stored, link);
  }

  /// A child of a cross depends on everything before it; as a child of a plus it would not.
  void addPlus() {
    const document::NodeId cross = m_context.parentJoin(query::JoinKind::Cross);
    if (cross == document::kNoNode || m_context.input.document->at(cross).children.size() < 2) return;
    if (m_context.segment->independent || m_context.holdsLastToken()) return;
    add({}, tr("cross became plus"), tr(" and it had been computed so once: it would then see only itself"),
        command("node.plus-cross", cross));
  }

  const WhyContext& m_context;
  Why& m_why;
};

}  // namespace

void addOtherwise(const WhyContext& context, Why& why) {
  OtherwiseMaker(context, why).make();
}

}  // namespace spanscope::ui
