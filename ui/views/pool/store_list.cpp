// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/pool/store_list.h"

#include "engine/experiment/experiment_chart.h"
#include "engine/workbench/run_options.h"
#include "ui/session/load_comparison.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/table_painting.h"
#include "ui/views/common/text_tools.h"
#include "ui/words/tr.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLocale>
#include <QPushButton>

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>

namespace spanscope::ui {

namespace {

constexpr int kRowHeight = 24;
constexpr int kFewestRows = 2;
constexpr int kText = 1;         ///< column of the first words
constexpr int kLeastText = 160;  ///< its width, however narrow the dock is

}  // namespace

StoreList::StoreList(QWidget* parent) : QTableWidget(parent) {
  setAccessibleName(tr("What the span store holds"));
  const QStringList titles{tr("Tier and model"), tr("Text"),   tr("Blocks"),   tr("Tokens"),
                           tr("Size"),           tr("Stored"), tr("Last used")};
  setColumnCount(static_cast<int>(titles.size()));
  setHorizontalHeaderLabels(titles);
  showWholeRows(*this, kRowHeight);
  setEditTriggers(QAbstractItemView::NoEditTriggers);
  setFrameShape(QFrame::NoFrame);
  setShowGrid(false);
  setWordWrap(false);
  setTabKeyNavigation(false);
  horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  horizontalHeader()->setSectionResizeMode(kText, QHeaderView::Fixed);
  connect(horizontalHeader(), &QHeaderView::sectionResized, this, [this](int column) {
    if (column != kText) giveTextRoom();
  });
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  hide();
}

void StoreList::showStore(const StoreTable& table, const Theme& theme, int room) {
  setVisible(!table.rows.empty());
  const int wanted = horizontalHeader()->sizeHint().height() + kRowHeight * int(table.rows.size()) + 2;
  const int least = horizontalHeader()->sizeHint().height() + kRowHeight * kFewestRows + 2;
  setFixedHeight(std::min(wanted, std::max(least, room / 2)));
  if (m_isStyled && m_shown == table && m_theme == theme) return;
  if (!m_isStyled || m_theme != theme) setStyleSheet(tableStyle(theme));
  m_isStyled = true;
  m_shown = table;
  m_theme = theme;
  setRowCount(static_cast<int>(table.rows.size()));
  for (int row = 0; row < rowCount(); ++row) {
    const StoreRow& from = table.rows[static_cast<std::size_t>(row)];
    QString name = from.isTier ? from.name : QStringLiteral("    ") + from.name;
    if (!from.ofThisModel) name += tr(" (not this session's)");
    const QStringList texts{name, from.text, from.blocks, from.tokens, from.size, from.stored, from.used};
    for (int column = 0; column < texts.size(); ++column) {
      auto cell = std::make_unique<QTableWidgetItem>(texts[column]);
      QFont font = theme.smallFont();
      font.setBold(from.isTier);
      cell->setFont(font);
      cell->setForeground(theme.color(from.isTier        ? Role::Text
                                      : from.ofThisModel ? Role::TextSecond
                                                         : Role::TextThird));
      if (column == kText && !from.text.isEmpty()) {
        cell->setToolTip(QString(from.text).replace(tr(" · "), QStringLiteral("\n")));
        cell->setData(Qt::AccessibleTextRole, from.text);
      }
      // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): the table takes it.
      setItem(row, column, cell.release());
    }
  }
}

void StoreList::resizeEvent(QResizeEvent* event) {
  QTableWidget::resizeEvent(event);
  giveTextRoom();
}

void StoreList::giveTextRoom() {
  int others = 0;
  for (int column = 0; column < columnCount(); ++column) others += column == kText ? 0 : columnWidth(column);
  horizontalHeader()->resizeSection(kText, std::max(kLeastText, viewport()->width() - others));
}

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

namespace {

constexpr std::int32_t kUsualTokens = 512;

QString number(double value) {
  return QString::fromStdString(experiment::shortNumber(value));
}

QString modelOf(const ViewInput& input) {
  const std::filesystem::path directory = workbench::modelDirectoryOf(input.document->settings);
  return QString::fromStdString(
      (directory.has_filename() ? directory : directory.parent_path()).filename().string());
}

QString sentence(const LoadTiming& timing) {
  return tr("Loading %1 tokens took %2 ms from host memory, %3 ms from the disk (%4 ms where the system had "
            "forgotten the file); computing them %5 ms.")
      .arg(timing.tokens)
      .arg(number(timing.host), number(timing.disk), number(timing.coldDisk), number(timing.computed));
}

/// The verdict, from how the slowest tier compares with computing.
QString verdict(const LoadTiming& timing) {
  if (timing.coldDisk < timing.computed)
    return tr("Loading was %1 to %2 times as fast.")
        .arg(number(timing.computed / std::max(timing.coldDisk, std::max(timing.disk, timing.host))),
             number(timing.computed / std::min(timing.disk, timing.host)));
  if (timing.disk < timing.computed)
    return tr("From a file that the system has forgotten, computing was faster.");
  return tr("Computing was faster than the disk: that tier is not worth it for such documents.");
}

}  // namespace

StoreCost storeCost(const ViewInput& input) {
  const QString model = modelOf(input);
  const LoadComparison* load = nullptr;
  if (input.loads) {
    const auto found = input.loads->byModel.find(model.toStdString());
    if (found != input.loads->byModel.end()) load = &found->second;
  }
  if (load == nullptr) {
    return {
        .isMeasured = false,
        .text =
            tr("Whether loading is faster than computing has not been measured here for %1 yet.").arg(model),
        .details = {}};
  }
  StoreCost cost{.isMeasured = true, .text = {}, .details = {}};
  const LoadTiming& usual = load->near(kUsualTokens);
  cost.text = tr("%1 %2 Measured here with %3 on %4, %5.")
                  .arg(sentence(usual), verdict(usual), model, QString::fromStdString(load->machine),
                       QLocale().toString(load->measured.toLocalTime(), QLocale::ShortFormat));
  QStringList lines;
  for (const LoadTiming& timing : load->timings) lines += sentence(timing);
  cost.details = lines.join(QLatin1Char('\n'));
  return cost;
}

StoreCostStrip::StoreCostStrip(QWidget* parent)
    : QWidget(parent), m_text(new QLabel(this)), m_measure(new QPushButton(this)) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(3 * kSpace, kSpace, 3 * kSpace, kSpace);
  row->setSpacing(2 * kSpace);
  row->addWidget(m_text, 1);
  row->addWidget(m_measure);
  m_text->setAccessibleName(tr("Loading beside computing"));
  m_text->setWordWrap(true);
  m_text->setTextFormat(Qt::PlainText);
  m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_measure->setToolTip(
      tr("Runs the experiment on the model of this document; other runs pass between two of its steps"));
  connect(m_measure, &QPushButton::clicked, this, &StoreCostStrip::measureWanted);
  hide();
}

void StoreCostStrip::showCost(const StoreCost& cost, const Theme& theme) {
  m_cost = cost;
  m_text->setFont(theme.smallFont());
  colorLabel(*m_text, theme, Role::TextSecond);
  m_text->setText(cost.text);
  m_text->setToolTip(cost.details);
  m_measure->setText(cost.isMeasured ? tr("Measure again") : tr("Measure"));
}

}  // namespace spanscope::ui
