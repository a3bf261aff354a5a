// SPDX-License-Identifier: GPL-3.0-or-later
// The table of facts in the why model.
#include "engine/policy/choice.h"
#include "engine/trace/miss_reasons.h"
#include "ui/views/pool/pool_view.h"
#include "ui/views/why/why_context.h"
#include "ui/words/metric_words.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <variant>

namespace spanscope::ui {

namespace {

constexpr int kMostText = 120;  // characters of a block's text

QString shortened(QString text) {
  if (text.size() > kMostText) text = text.left(kMostText - 1).trimmed() + QChar(0x2026);
  return text;
}

QString shortKey(const trace::BlockKey& key) {
  return QStringLiteral("%1…%2")
      .arg(key.high >> 48U, 4, 16, QLatin1Char('0'))
      .arg(key.low & 0xFFU, 2, 16, QLatin1Char('0'));
}

WhyLink toEvent(std::size_t index) {
  WhyLink link;
  link.position = index + 1;
  return link;
}

class FactMaker {
  Q_DECLARE_TR_FUNCTIONS(spanscope::ui::FactMaker)
 public:
  FactMaker(const WhyContext& context, Why& why) : m_context(context), m_facts(*context.facts), m_why(why) {}

  void make() {
    addDifference();
    // The other facts of a block with prompt tokens do not count its generated tokens.
    const std::int32_t count = m_facts.prompt > 0 ? m_facts.prompt : m_facts.tokens;
    add(tr("Tokens"),
        shortened(m_context.tokensText(m_context.firstToken(), m_context.firstToken() + count)));
    addPolicy();
    if (m_context.lookup != nullptr) {
      addFound();
      addStored();
      addPosition();
      addContext();
      addEviction();
    } else {
      add(tr("Used here at"), tr("position %1").arg(position(m_context.segment->base)));
    }
    addKey();
    addPresent();
  }

 private:
  std::int64_t position(std::int64_t base) const { return base + m_context.firstToken(); }

  void add(const QString& label, const QString& text, const QString& linkText = {},
           const WhyLink& link = {}) {
    m_why.facts.push_back({label, {.text = text, .linkText = linkText, .after = {}, .link = link}});
  }

  /// A run on servers has the names of the servers in place of a policy.
  void addPolicy() {
    const auto& runs = m_context.state.progress().runs;
    const auto run = runs.find(m_context.request->run);
    if (run == runs.end() || run->second.policy.empty()) return;
    const QString name = QString::fromStdString(run->second.policy);
    if (const std::optional<policy::Choice> choice = policy::findChoice(run->second.policy))
      add(tr(/*id:why-policy*/ "Reuse policy"), tr("%1: %2").arg(name, policyWord(choice->policy().brief)));
    else
      add(tr(/*id:why-cache-of*/ "Cache of"), name);
  }

  void addFound() {
    const trace::BlockLookedUp& lookup = *m_context.lookup;
    QString text = tr("%1 of %2 tokens").arg(m_context.copied()).arg(lookup.wanted);
    const trace::BlockLoaded* loaded = loadEvent(*m_context.input.trace, m_facts.load);
    if (lookup.outcome == trace::LookupOutcome::Partial && lookup.block != kNullBlock && loaded == nullptr)
      text += tr(", copied from #%1").arg(lookup.block);
    if (m_context.recomputed > 0)
      text += tr("; %1").arg(metricPhrase("tokens-computed-again", QString::number(m_context.recomputed)));
    add(tr("Reused"), text);
    if (loaded == nullptr) return;
    add(tr("Loaded from"), tr("%1, stored with start position %2: %3 bytes in %4 ms")
                               .arg(tierPlace(loaded->tier))
                               .arg(position(lookup.storedBase))
                               .arg(loaded->bytes)
                               .arg(double(loaded->nanoseconds) / 1e6, 0, 'f', 3));
  }

  void addStored() {
    const trace::BlockLookedUp& lookup = *m_context.lookup;
    if (lookup.storedByRequest == 0) return;
    const bool served = lookup.outcome != trace::LookupOutcome::Miss;
    const bool same = trace::infoOf(lookup.reason).tokensAreStored;
    // The tokens of a partial hit are copied into another block.
    const bool isCopied = lookup.outcome == trace::LookupOutcome::Partial;
    const QString label = isCopied ? tr("Copied from")
                          : served ? tr("Stored by")
                          : same   ? tr("Same tokens in")
                                   : tr("Nearest block");
    WhyLink link;
    link.block = m_context.storedPlace();
    const QString owner = m_context.storedBy();
    const bool isNamed = (!served || isCopied) && lookup.block != kNullBlock;
    const QString text = isNamed ? tr("#%1, stored by ").arg(lookup.block) : QString();
    WhyText value{.text = text, .linkText = {}, .after = {}, .link = {}};
    if (link.block) {
      value.linkText = owner;
      value.link = link;
      value.after = tr(", at position %1").arg(position(lookup.storedBase));
    } else {
      value.text += owner + tr(", at position %1").arg(position(lookup.storedBase));
    }
    m_why.facts.push_back({label, value});
  }

  void addPosition() {
    const trace::BlockLookedUp& lookup = *m_context.lookup;
    QString text = tr("position %1").arg(position(lookup.base));
    const bool served = lookup.outcome == trace::LookupOutcome::Hit ||
                        lookup.outcome == trace::LookupOutcome::Relocated || lookup.tokens > 0;
    const std::int64_t moved = lookup.base - lookup.storedBase;
    if (served && moved != 0) {
      text += tr(" (moved by %1)")
                  .arg((moved > 0 ? QStringLiteral("+") : QStringLiteral("−")) +
                       QString::number(moved > 0 ? moved : -moved));
    } else if (served) {
      text += tr(" (not moved)");
    }
    add(tr("Used here at"), text);
    if (lookup.outcome == trace::LookupOutcome::Relocated)
      add(tr("Keys rewritten"),
          tr(/*id:none-query-rotated*/ "none: the query vector is rotated, not the keys"));
  }

  /// This fact is first, because the user can act on it.
  void addDifference() {
    if (m_context.lookup == nullptr || m_context.lookup->differsAt < 0) return;
    const trace::BlockLookedUp& lookup = *m_context.lookup;
    QString text = tr("token %1 of its segment: requested %2")
                       .arg(lookup.differsAt)
                       .arg(m_context.tokenText(lookup.tokenWanted));
    text += lookup.tokenStored >= 0
                ? tr(", stored %1").arg(m_context.tokenText(lookup.tokenStored))
                : tr(/*id:stored-block-ends*/ ", the stored block ends before this token");
    add(tr(/*id:why-differs-at*/ "Differs at"), text);
    m_why.leadingFacts = 1;
  }

  void addContext() {
    const trace::BlockLookedUp& lookup = *m_context.lookup;
    if (lookup.contextDiffersAt < 0) return;
    const auto at = static_cast<std::size_t>(lookup.contextDiffersAt);
    const auto& sees = m_context.segment->sees;
    if (at < sees.size() && sees[at] < m_context.names.size()) {
      WhyLink link;
      link.block = BlockRef{m_facts.place.request, sees[at], 0};
      add(tr("Attends to"), tr(/*id:number-sees*/ "a different segment at place %1: ").arg(at + 1),
          m_context.names[sees[at]].name, link);
    } else {
      add(tr("Attends to"),
          tr(/*id:fewer-segments-stored*/ "fewer segments than the stored block: %1").arg(sees.size()));
    }
  }

  void addEviction() {
    const std::uint64_t by = m_context.lookup->evictedBy;
    if (by == 0) return;
    const QString label = m_context.hasSlots() ? tr(/*id:why-replaced-by*/ "Replaced by") : tr("Evicted by");
    const std::optional<std::size_t> index = m_context.input.trace->indexOf(by);
    if (!index) {
      add(label, tr(/*id:event-not-recording*/ "event %1, which is not in this recording").arg(by));
      return;
    }
    const trace::Event& event = m_context.input.trace->event(*index);
    m_why.facts.push_back({label,
                           {.text = {},
                            .linkText = tr("event %1").arg(by),
                            .after = eventText(event),
                            .link = toEvent(*index)}});
  }

  QString eventText(const trace::Event& event) const {
    QString text = tr(" at %1").arg(timeText(event.time));
    const auto* removed = std::get_if<trace::BlockRemoved>(&event.payload);
    if (removed != nullptr && removed->reason == trace::RemovalReason::Cleared) {
      text += tr(", when the cache was emptied");
    } else if (event.request != 0) {
      text += tr(/*id:make-room*/ ", to make room for %1").arg(requestName(m_context.state, event.request));
    } else if (removed != nullptr && event.run != 0) {
      text += tr(", to make room for another run");
    }
    return text;
  }

  void addKey() {
    const auto& pool = m_context.state.pool().blocks();
    if (!m_context.present()) return;
    const trace::BlockState& own = pool[static_cast<std::size_t>(m_facts.physical)];
    add(tr("Key"), tr("%1, block %2 of its segment").arg(shortKey(own.key)).arg(own.virtualIndex));
  }

  void addPresent() {
    if (m_facts.physical == kNullBlock) return;
    if (const std::optional<std::size_t> lost = m_context.lostAt()) {
      const trace::Event& event = m_context.input.trace->event(*lost);
      m_why.facts.push_back({tr("Since then"),
                             {.text = tr("removed by "),
                              .linkText = tr("event %1").arg(event.sequence),
                              .after = eventText(event),
                              .link = toEvent(*lost)}});
      return;
    }
    const auto& pool = m_context.state.pool().blocks();
    const auto index = static_cast<std::size_t>(m_facts.physical);
    if (index >= pool.size()) return;
    const std::int32_t references = pool[index].references;
    if (references > 1) {
      add(tr(/*id:why-shared*/ "Shared by"), tr("%1 requests").arg(references));
    } else if (references == 1) {
      add(tr("In use by"), tr("1 request"));
    } else {
      add(tr(/*id:why-now*/ "Now"),
          pool[index].cached ? tr(/*id:why-cached-now*/ "in the cache, and in use by no request")
                             : tr("freed, because the cache did not keep the block after its request"));
    }
  }

  const WhyContext& m_context;
  const VirtualBlockFacts& m_facts;
  Why& m_why;
};

}  // namespace

void addWhyFacts(const WhyContext& context, Why& why) {
  FactMaker(context, why).make();
}

// The changes that would make a hit a miss, or a miss a hit. Only changes that follow from the cache's
// construction are listed.

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
      m_why.otherwiseTitle = tr(/*id:would-be*/ "The block would be a miss if");
      addMisses();
      return;
    }
    m_why.otherwiseTitle = outcome == LookupOutcome::Partial
                               ? tr(/*id:all-of-it*/ "The whole block would be a hit if")
                               : tr(/*id:it-would-be*/ "The block would be a hit if");
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

  /// The block's node if it is a message. The user cannot edit the answer of a generate node.
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
                        ? tr(" in the block, or earlier in %1").arg(m_context.segmentName())
                        : tr(" in the block, earlier in %1, or in a segment that the block attends to")
                              .arg(m_context.segmentName());
    if (const document::NodeId node = editable(); node != document::kNoNode) {
      add({}, changed, where, command("node.edit", node));
    } else {
      add(changed + where);
    }
    const QString effect = tr(": the block would then attend to earlier text, and could not be reused");
    if (m_context.segment->independent && standsBehindSomething()) {
      const document::NodeId plus = m_context.parentJoin(query::JoinKind::Plus);
      if (plus != document::kNoNode)
        add({}, tr("plus became cross"), effect, command("node.plus-cross", plus));
    }
    add(tr("the block had been evicted, or "), tr(/*id:cache-were-emptied*/ "the cache were emptied"), {},
        command("run.clear-cache"));
  }

  void addHits() {
    addOwnSpan();
    switch (m_context.lookup->reason) {
      case MissReason::None:
        break;
      case MissReason::NeverSeen:
        addAgain(tr(/*id:same-tokens-came*/ "the same prefix and tokens were requested again"));
        break;
      case MissReason::TokensDiffer:
        if (isOfOtherNode())
          addOtherNode();
        else
          addSameTokens();
        addPlus();
        addSpans();
        break;
      case MissReason::ContextDiffers:
        if (m_context.lookup->contextDiffersAt < 0) {
          add(tr("the positions of the block had the same position scale as when #%1 was stored")
                  .arg(m_context.lookup->block));
          break;
        }
        add(tr(/*id:everything-sees-were*/ "this block and the stored block #%1 attended to the same "
                                           "segments, in the same order, at the same distances")
                .arg(m_context.lookup->block));
        addPlus();
        break;
      case MissReason::Evicted:
        if (m_context.hasSlots()) {
          add(tr(/*id:why-more-slots*/ "the slot still had the earlier prompt. With more slots (--parallel), "
                                       "other prompts replace this prompt less often"));
          break;
        }
        addLargerPool();
        addAgain(tr("the block were requested again before its eviction"));
        break;
      case MissReason::AfterMiss:
        addAfterMiss();
        addPlus();
        addSpans();
        break;
      case MissReason::LastToken:
        m_why.otherwiseTitle = tr(/*id:it-is-always*/ "This miss is unavoidable");
        add(tr(
            /*id:last-token-prompt*/
            "the last token of a prompt is always computed, because the answer starts from this token"));
        break;
      case MissReason::CacheOff:
        add(m_context.lookup->wanted < m_context.blocks.blockSize
                ? tr(/*id:blocks-not-full*/ "caching were on and partial blocks were kept")
                : tr("caching were on"));
        break;
    }
  }

  /// Messages that the cache has as one span, so that they could be a child of a plus.
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
            ? tr(/*id:tokens-stored*/ "these %1 tokens are stored as an independent segment")
                  .arg(change->count)
            : tr("%1 of these %2 tokens are stored as an independent segment")
                  .arg(change->cached)
                  .arg(change->count);
    WhyLink link;
    link.block = m_context.placeOfStored(change->block);
    const QString stored = m_context.storedIn(change->block);
    const QString text =
        tr(/*id:stood-under-plus*/ "%1 were a span: a child of a plus, with the policy spans. Now %2 by ")
            .arg(what, count);
    if (link.block) {
      add(text, stored, {}, link);
    } else {
      add(text + stored);
    }
  }

  /// Block counts include the null block, as in the setting.
  void addLargerPool() {
    const cache::WhatIf* change = m_context.change(cache::Change::LargerPool);
    if (change == nullptr) {
      add(tr("the pool were large enough: it has %1 blocks of %2 tokens")
              .arg(m_context.state.pool().blockCount() - 1)
              .arg(m_context.blocks.blockSize));
      return;
    }
    add(tr(/*id:pool-set-blocks*/ "the pool had %1 blocks (now %2). A smaller pool can be enough")
            .arg(change->blockCount)
            .arg(m_context.state.pool().blockCount()));
  }

  /// Adds a condition. If the block's content is in the pool now, the next run finds it.
  void addAgain(const QString& condition) {
    if (!m_context.present()) {
      add(condition);
      return;
    }
    const QString rest =
        m_context.holdsLastToken()
            ? tr(": all tokens except the last are now stored as #%1. The last token is always computed")
            : tr(": the block is stored now as #%1");
    add(condition + rest.arg(m_context.facts->physical) + tr(" ("), tr("run the query again"), tr(")"),
        command("run.run"));
  }

  /// Whether the nearest stored block has the text of another node at the different token. Two children that
  /// changed places are an example. A shared beginning of such blocks is only the text of the template.
  bool isOfOtherNode() const {
    const document::NodeId own = m_context.nodeAt(m_context.differingToken());
    const document::NodeId stored = m_context.storedNode();
    return own != document::kNoNode && stored != document::kNoNode && own != stored;
  }

  void addOtherNode() {
    const std::optional<BlockRef> place = m_context.storedPlace();
    if (m_context.segment->independent || !place) {
      addAgain(
          tr(/*id:text-stored-before*/ "the same text had been an independent segment in an earlier run"));
      return;
    }
    WhyLink link;
    link.block = place;
    add(tr(/*id:other-text-here*/ "the prompt had %1 at this place, as in ").arg(m_context.storedName()),
        requestName(m_context.state, place->request), {}, link);
  }

  /// Under `prefix`, a moved child of a plus is computed again. Under `spans`, the child is a hit.
  void addSpans() {
    const auto& runs = m_context.state.progress().runs;
    const auto run = runs.find(m_context.request->run);
    if (run == runs.end()) return;
    const std::optional<policy::Choice> choice = policy::findChoice(run->second.policy);
    if (!choice || choice->policy().hasIndependentSpans || !m_context.isChildOfPlus()) return;
    add(tr(/*id:policy-were-spans*/ "the policy were spans, in the earlier run and in this run. Each child "
                                    "of a plus is then a hit at any position"));
  }

  void addSameTokens() {
    const trace::BlockLookedUp& lookup = *m_context.lookup;
    if (lookup.differsAt < 0) return;
    QString text;
    if (lookup.tokenStored < 0) {
      text = tr(/*id:ended-before-token*/ "%1 ended before token %2, as the stored block does")
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
      text = tr("the text from token %1 on were %2, as in the stored block")
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
            ? tr(", the first miss, and all later blocks up to this block had been in the cache")
            : tr(/*id:those-after-found*/
                 " and the blocks after it had been hits: this block's content is stored as #%1")
                  .arg(m_context.lookup->block);
    add({}, tr("block %1").arg(missed->number), stored, link);
  }

  /// A child of a cross depends on all earlier text. A child of a plus does not.
  void addPlus() {
    const document::NodeId cross = m_context.parentJoin(query::JoinKind::Cross);
    if (cross == document::kNoNode || m_context.input.document->at(cross).children.size() < 2) return;
    if (m_context.segment->independent || m_context.holdsLastToken()) return;
    // The policy prefix reuses only the common prefix of whole prompts, so a plus would not help.
    const auto& runs = m_context.input.state().progress().runs;
    if (const auto run = runs.find(m_context.request->run);
        run != runs.end() && run->second.policy == "prefix")
      return;
    add({}, tr("cross became plus"),
        tr(" and the block had been computed under a plus before. The segment of the block would then attend "
           "only to itself"),
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
