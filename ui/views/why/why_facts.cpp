// SPDX-License-Identifier: GPL-3.0-or-later
// The table of facts in the why model.
#include "engine/trace/miss_reasons.h"
#include "ui/views/pool/store_model.h"
#include "ui/views/why/why_context.h"
#include "ui/words/tr.h"

#include <variant>

namespace spanscope::ui {
namespace {

constexpr int kMostText = 120;  // characters of a block's text

QString shortened(QString text) {
  if (text.size() > kMostText) text = text.left(kMostText - 1).trimmed() + QChar(0x2026);
  return text;
}

QString keyText(const trace::BlockKey& key) {
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
    add(tr("Tokens"),
        shortened(m_context.tokensText(m_context.firstToken(), m_context.firstToken() + m_facts.tokens)));
    if (m_context.lookup != nullptr) {
      addFound();
      addStored();
      addPosition();
      addDifference();
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

  void addFound() {
    const trace::BlockLookedUp& lookup = *m_context.lookup;
    QString text = tr("%1 of %2 tokens").arg(lookup.tokens).arg(lookup.wanted);
    const trace::BlockLoaded* loaded = loadEvent(*m_context.input.trace, m_facts.load);
    if (lookup.outcome == trace::LookupOutcome::Partial && lookup.block != kNullBlock && loaded == nullptr)
      text += tr(", copied from #%1").arg(lookup.block);
    add(tr("Found"), text);
    if (loaded == nullptr) return;
    add(tr("Loaded from"), tr("%1, where it was stored at position %2: %3 bytes in %4 ms")
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
    const QString label = served ? tr("Stored by") : same ? tr("Same tokens in") : tr("Nearest block");
    WhyLink link;
    link.block = m_context.storedPlace();
    const QString owner = m_context.storedBy();
    QString text = served || lookup.block == kNullBlock ? QString() : tr("#%1, stored by ").arg(lookup.block);
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
      add(tr("Keys rewritten"), tr("none: the query is rotated, not the keys"));
  }

  void addDifference() {
    const trace::BlockLookedUp& lookup = *m_context.lookup;
    if (lookup.differsAt >= 0) {
      QString text = tr("token %1 of %2: wanted %3")
                         .arg(lookup.differsAt)
                         .arg(m_context.segmentName(), m_context.tokenText(lookup.tokenWanted));
      text += lookup.tokenStored >= 0 ? tr(", stored %1").arg(m_context.tokenText(lookup.tokenStored))
                                      : tr(", the stored block ends before it");
      add(tr("Differs at"), text);
    }
    if (lookup.contextDiffersAt < 0) return;
    const auto at = static_cast<std::size_t>(lookup.contextDiffersAt);
    const auto& sees = m_context.segment->sees;
    if (at < sees.size() && sees[at] < m_context.names.size()) {
      WhyLink link;
      link.block = BlockRef{m_facts.place.request, sees[at], 0};
      add(tr("Sees instead"), tr("as number %1 of what it sees: ").arg(at + 1),
          m_context.names[sees[at]].name, link);
    } else {
      add(tr("Sees instead"), tr("fewer segments than the stored one: %1").arg(sees.size()));
    }
  }

  void addEviction() {
    const std::uint64_t by = m_context.lookup->evictedBy;
    if (by == 0) return;
    const std::optional<std::size_t> index = m_context.input.trace->indexOf(by);
    if (!index) {
      add(tr("Evicted by"), tr("event %1, which is not in this recording").arg(by));
      return;
    }
    const trace::Event& event = m_context.input.trace->event(*index);
    m_why.facts.push_back({tr("Evicted by"),
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
      text += tr(", to make room for %1").arg(requestName(m_context.state, event.request));
    } else if (removed != nullptr && event.run != 0) {
      text += tr(", to make room for another run");
    }
    return text;
  }

  void addKey() {
    const auto& pool = m_context.state.pool().blocks();
    if (!m_context.present()) return;
    const trace::BlockState& own = pool[static_cast<std::size_t>(m_facts.physical)];
    add(tr("Key"), tr("%1, block %2 of its chain").arg(keyText(own.key)).arg(own.virtualIndex));
  }

  void addPresent() {
    if (m_facts.physical == kNullBlock) return;
    if (const std::optional<std::size_t> lost = m_context.lostAt()) {
      const trace::Event& event = m_context.input.trace->event(*lost);
      m_why.facts.push_back({tr("Since then"),
                             {.text = tr("taken away by "),
                              .linkText = tr("event %1").arg(event.sequence),
                              .after = eventText(event),
                              .link = toEvent(*lost)}});
      return;
    }
    const auto& pool = m_context.state.pool().blocks();
    const auto index = static_cast<std::size_t>(m_facts.physical);
    if (index >= pool.size()) return;
    const std::int32_t references = pool[index].references;
    if (references > 0) {
      add(tr("Shared by"), references == 1 ? tr("1 reference") : tr("%1 references").arg(references));
    } else {
      add(tr("Shared by"), pool[index].cached ? tr("nobody at present; it can be found")
                                              : tr("nobody: it was freed with its request"));
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

}  // namespace spanscope::ui
