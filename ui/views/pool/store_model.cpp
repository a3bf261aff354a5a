// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/pool/store_model.h"

#include "ui/views/common/csv_line.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace spanscope::ui {
namespace {

/// The last report before the shown moment, and the milliseconds since then.
const trace::StoreReported* lastReport(const ViewInput& input, std::int64_t& passed) {
  const std::vector<std::size_t>& reports = input.trace->indicesOf<trace::StoreReported>();
  const auto next = std::lower_bound(reports.begin(), reports.end(), input.position);
  if (next == reports.begin()) return nullptr;
  const trace::Event& event = input.trace->event(*(next - 1));
  passed = (input.trace->event(input.position - 1).time - event.time) / 1'000'000;
  return std::get_if<trace::StoreReported>(&event.payload);
}

/// What the packs of that report hold, by their names.
std::map<std::string_view, std::string_view> packTexts(const ViewInput& input) {
  std::map<std::string_view, std::string_view> texts;
  const std::vector<std::size_t>& reports = input.trace->indicesOf<trace::StoreTextsReported>();
  const auto next = std::lower_bound(reports.begin(), reports.end(), input.position);
  if (next == reports.begin()) return texts;
  const auto* report = std::get_if<trace::StoreTextsReported>(&input.trace->event(*(next - 1)).payload);
  for (const trace::PackText& pack : report->packs) texts.emplace(pack.name, pack.text);
  return texts;
}

QString textOf(const std::map<std::string_view, std::string_view>& texts, const trace::StoredPack& pack) {
  const auto found = texts.find(pack.name);
  if (found == texts.end()) {
    // One row of host memory has all blocks of a model, and their words may not be known.
    return pack.tier == trace::StoreTier::Host ? tr("all blocks of this model") : QString();
  }
  return QString::fromUtf8(found->second.data(), static_cast<qsizetype>(found->second.size()));
}

QString sizeText(std::uint64_t bytes) {
  constexpr double kKibibyte = 1 << 10;
  constexpr double kMebibyte = 1 << 20;
  const auto size = static_cast<double>(bytes);
  if (size < kMebibyte) return tr("%1 KiB").arg(size / kKibibyte, 0, 'f', 0);
  return tr("%1 MiB").arg(size / kMebibyte, 0, 'f', size < 100 * kMebibyte ? 1 : 0);
}

QString agoText(std::int64_t milliseconds) {
  constexpr double kSecond = 1000;
  constexpr double kMinute = 60 * kSecond;
  constexpr double kHour = 60 * kMinute;
  constexpr double kDay = 24 * kHour;
  const auto age = static_cast<double>(std::max<std::int64_t>(0, milliseconds));
  if (age < 10 * kSecond) return tr("%1 s ago").arg(age / kSecond, 0, 'f', 1);
  if (age < 2 * kMinute) return tr("%1 s ago").arg(age / kSecond, 0, 'f', 0);
  if (age < 2 * kHour) return tr("%1 min ago").arg(age / kMinute, 0, 'f', 0);
  if (age < 2 * kDay) return tr("%1 h ago").arg(age / kHour, 0, 'f', 0);
  return tr("%1 d ago").arg(age / kDay, 0, 'f', 0);
}

QString countText(std::uint64_t count) {
  return QString::number(count);
}

}  // namespace

QString tierName(trace::StoreTier tier) {
  return tier == trace::StoreTier::Disk ? tr("disk") : tr("host memory");
}

QString tierPlace(trace::StoreTier tier) {
  return tier == trace::StoreTier::Disk ? tr("the disk") : tr("host memory");
}

StoreTable storeTable(const ViewInput& input) {
  StoreTable table;
  std::int64_t passed = 0;
  const trace::StoreReported* report = lastReport(input, passed);
  if (report == nullptr) return table;
  const std::map<std::string_view, std::string_view> texts = packTexts(input);
  QStringList parts;
  for (const trace::StoreTierState& tier : report->tiers) {
    table.rows.push_back({.isTier = true,
                          .tier = tier.tier,
                          .name = tierName(tier.tier),
                          .text = {},
                          .blocks = countText(tier.blocks),
                          .tokens = countText(tier.tokens),
                          .size = tr("%1 of %2").arg(sizeText(tier.bytes), sizeText(tier.limit)),
                          .stored = {},
                          .used = {},
                          .ofThisModel = true});
    parts << tr("%1 %2 blocks, %3").arg(tierName(tier.tier)).arg(tier.blocks).arg(sizeText(tier.bytes));
    for (const trace::StoredPack& pack : report->packs) {
      if (pack.tier != tier.tier) continue;
      table.rows.push_back({.isTier = false,
                            .tier = tier.tier,
                            .name = QString::fromStdString(pack.model),
                            .text = textOf(texts, pack),
                            .blocks = countText(pack.blocks),
                            .tokens = countText(pack.tokens),
                            .size = sizeText(pack.bytes),
                            .stored = agoText(pack.age + passed),
                            .used = agoText(pack.unused + passed),
                            .ofThisModel = pack.ofThisModel});
    }
  }
  table.summary = parts.join(tr(" · "));
  return table;
}

QString storeCsv(const ViewInput& input) {
  QString csv;
  std::int64_t passed = 0;
  const trace::StoreReported* report = lastReport(input, passed);
  if (report == nullptr) return csv;
  const std::map<std::string_view, std::string_view> texts = packTexts(input);
  for (const trace::StoredPack& pack : report->packs) {
    QStringList line{QString::fromStdString(pack.name), tierName(pack.tier), QString(),
                     QString::number(pack.tokens)};
    while (line.size() < 11) line << QString();
    line << QString::fromStdString(pack.model) << QString::number(pack.blocks) << QString::number(pack.bytes)
         << QString::number(pack.age + passed) << QString::number(pack.unused + passed)
         << textOf(texts, pack);
    csv += csvLine(line);
  }
  return csv;
}

}  // namespace spanscope::ui
