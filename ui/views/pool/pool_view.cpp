// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/pool/pool_view.h"

#include "ui/views/common/block_painter.h"
#include "ui/views/common/event_names.h"
#include "ui/views/pool/pool_area.h"
#include "ui/views/pool/pool_plot.h"
#include "ui/views/pool/store_list.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QComboBox>
#include <QFontMetrics>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>
#include <optional>
#include <utility>

namespace spanscope::ui {

PoolView::PoolView(QWidget* parent)
    : InputView(kRunParts | InputPart::WholeTrace | InputPart::Measured, Pace::EveryInput, parent),
      MovingView(this),
      m_area(new PoolArea(this)),
      m_plot(new PoolPlot(this)),
      m_store(new StoreList(this)),
      m_cost(new StoreCostStrip(this)),
      m_detailLabel(new QLabel(this)) {
  setAccessibleName(tr("Pool"));
  setFocusProxy(m_area);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_area, 1);
  column->addWidget(m_plot, 1);
  m_plot->hide();
  column->addWidget(m_store);
  column->addWidget(m_cost);
  column->addWidget(m_detailLabel);
  m_detailLabel->setAccessibleName(tr("Selected block"));
  m_detailLabel->setWordWrap(true);
  m_detailLabel->setTextFormat(Qt::PlainText);
  m_detailLabel->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  m_detailLabel->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_detailLabel->setContentsMargins(3 * kSpace, kSpace, 3 * kSpace, 2 * kSpace);
  m_detailLabel->hide();
  m_area->showPool(&m_table, m_shade, kNullBlock, theme());
  m_area->setTips([this](BlockId block) { return input() ? poolTip(*input(), block) : QString(); });
  connect(m_area, &PoolArea::chosen, this, &PoolView::select);
  m_plot->setNames([this](std::size_t event) {
    if (input() == nullptr || event >= input()->trace->size()) return QString();
    return EventNames(*input()).of(input()->trace->event(event));
  });
  connect(m_plot, &PoolPlot::chosen, this, &PoolView::selectEvent);
  connect(m_plot, &PoolPlot::cursorMoved, this, &PoolView::showDetail);
  connect(m_cost, &StoreCostStrip::measureWanted, this,
          [this] { Q_EMIT commandWanted(QStringLiteral("run.experiment:load")); });
}

QWidget* PoolView::takeTitleControls() {
  if (!m_controls) {
    m_controls = new PoolControls;
    connect(m_controls, &PoolControls::shadeWanted, this, &PoolView::setShade);
    connect(m_controls, &PoolControls::overTimeWanted, this, &PoolView::showOverTime);
    showControls();
  }
  return m_controls;
}

void PoolView::showControls() {
  if (!m_controls) return;
  m_controls->showShade(m_shade, m_table.oldest, m_table.anyLoaded, theme());
  if (m_isOverTime) m_controls->showOverTime();
}

void PoolView::showOverTime() {
  setOverTime(true);
}

void PoolView::setOverTime(bool isOverTime) {
  if (isOverTime == m_isOverTime) return;
  m_isOverTime = isOverTime;
  m_area->setVisible(!isOverTime);
  m_plot->setVisible(isOverTime);
  setFocusProxy(isOverTime ? static_cast<QWidget*>(m_plot) : m_area);
  if (input() != nullptr) refresh();
}

void PoolView::setShade(PoolShade shade) {
  setOverTime(false);
  if (m_shade == shade) return;
  m_shade = shade;
  if (input() != nullptr) refresh();
}

const QWidget& PoolView::placesIn() const {
  return *m_area->viewport();
}

std::vector<QRect> PoolView::placesOf(const Selection& part) const {
  if (input() == nullptr || m_isOverTime) return {};
  const BlockId block = physicalOf(part);
  if (block == kNullBlock || static_cast<std::size_t>(block) >= m_table.blocks.size()) return {};
  return {m_area->cell(block).translated(-m_area->offset())};
}

void PoolView::bringIntoSight(const Selection& part) {
  if (input() == nullptr) return;
  setOverTime(false);
  m_area->reveal(physicalOf(part));
}

BlockId PoolView::physicalOf(const Selection& selection) const {
  if (selection.physical != kNullBlock || !selection.block) return selection.physical;
  const auto& requests = input()->state().progress().requests;
  const auto request = requests.find(selection.block->request);
  if (request == requests.end()) return kNullBlock;
  const auto block = request->second.blocks.find({selection.block->segment, selection.block->virtualIndex});
  return block == request->second.blocks.end() ? kNullBlock : block->second.block;
}

void PoolView::refresh() {
  m_history.follow(input()->trace);
  m_table = poolTable(*input(), m_history, m_shade);
  const BlockId block = physicalOf(input()->selection);
  m_detail = block == kNullBlock ? PoolDetail{} : poolDetail(*input(), m_history, block);
  stopMotion();
  m_area->showPool(&m_table, m_shade, block, theme());
  showMotion();
  const StoreTable store = storeTable(*input());
  m_store->showStore(store, theme(), height());
  m_cost->showCost(storeCost(*input()), theme());
  m_cost->setVisible(!store.cells.rows.empty());
  showControls();
  if (m_isOverTime) {
    m_levels.follow(input()->trace);
    m_plot->showLevels(&m_levels, input()->trace->size(), input()->position, theme());
  }

  QPalette colours = m_detailLabel->palette();
  colours.setColor(QPalette::WindowText, theme().color(Role::TextSecond));
  m_detailLabel->setPalette(colours);
  m_detailLabel->setFont(theme().smallFont());
  showDetail();
  m_area->setAccessibleDescription(m_detail.text);
  if (m_revealed != block) {
    m_revealed = block;
    m_area->reveal(block);
  }
  if (m_summary == m_table.summary) return;
  m_summary = m_table.summary;
  Q_EMIT summaryChanged(m_summary);
}

void PoolView::stopMotion() {
  m_area->showMotion(nullptr, 1);
  m_motion.reset();
}

void PoolView::showMotion() {
  if (input() == nullptr || m_isOverTime || !moment().isUnderwayAt(input()->position)) return stopMotion();
  if (!m_motion) m_motion = poolMotion(*input(), moment(), m_history);
  m_area->showMotion(&*m_motion, moment().done);
}

void PoolView::showDetail() {
  QString text = m_detail.text;
  if (m_isOverTime) {
    const std::optional<std::size_t> change = m_plot->current();
    text = change ? m_plot->factsOf(*change) : QString();
  }
  m_detailLabel->setAccessibleName(m_isOverTime ? tr("Selected event") : tr("Selected block"));
  m_detailLabel->setText(text);
  m_detailLabel->setVisible(!text.isEmpty());
}

void PoolView::selectEvent(std::size_t event) {
  if (input() == nullptr || event >= input()->trace->size()) return;
  const trace::Event chosen = input()->trace->event(event);
  const auto& requests = input()->trace->newest().progress().requests;
  const auto request = requests.find(chosen.request);
  const bool hasRequest = request != requests.end();
  const Selection selection =
      hasRequest ? selectionOf(request->second.run, chosen.request, request->second.node) : Selection();
  Q_EMIT positionWanted(event + 1);
  if (hasRequest) Q_EMIT selectionWanted(selection);
}

void PoolView::select(BlockId block) {
  if (input() != nullptr) Q_EMIT selectionWanted(selectionOfPhysical(*input(), m_history, block));
}

QString PoolView::csv() const {
  if (input() == nullptr) return {};
  return m_isOverTime ? poolLevelsCsv(input()->trace) : poolCsv(*input());
}

void PoolView::paintTo(QPainter& painter, const QSize& size) {
  ensureFresh();
  if (m_isOverTime)
    m_plot->paint(painter, QRect(QPoint(), size));
  else
    m_area->paintPicture(painter, size);
}

ViewInfo poolRow() {
  return {.id = QStringLiteral("pool"),
          .title = tr("Pool"),
          .help = tr("Every block of the KV pool, its content and its requests"),
          .make = makeViewOf<PoolView>,
          .needs = {Fact::Pool},
          .places = {{LayoutId::Explain, Room::Low, Room::Low, 0, 1, 2, 0},
                     {LayoutId::Explain, Room::Middle, Room::Large, 0, 2, 1, 0}}};
}

/// The colour ramp of ages, with numbers at its ends.
class AgeScale : public QWidget {
 public:
  using QWidget::QWidget;

  void showScale(double oldest, const Theme& theme) {
    m_oldest = oldest;
    m_theme = theme;
    setAccessibleName(QObject::tr("Age, from now to %1 seconds ago").arg(oldest, 0, 'f', 2));
    updateGeometry();
    update();
  }
  QSize sizeHint() const override {
    const QFontMetrics metrics(m_theme.smallFont());
    return {metrics.horizontalAdvance(newest()) + kRamp + 4 * kSpace + metrics.horizontalAdvance(eldest()),
            20};
  }

 protected:
  void paintEvent(QPaintEvent* /*event*/) override {
    QPainter painter(this);
    painter.setFont(m_theme.smallFont());
    painter.setPen(m_theme.color(Role::TextSecond));
    const QFontMetrics metrics(m_theme.smallFont());
    int x = 0;
    painter.drawText(QRect(x, 0, width(), height()), Qt::AlignVCenter | Qt::AlignLeft, newest());
    x += metrics.horizontalAdvance(newest()) + 2 * kSpace;
    for (int i = 0; i < kRamp; ++i)
      painter.fillRect(QRect(x + i, height() / 2 - 5, 1, 10), Theme::heat(1 - double(i) / (kRamp - 1)));
    x += kRamp + kSpace;
    painter.drawText(QRect(x, 0, width() - x, height()), Qt::AlignVCenter | Qt::AlignLeft, eldest());
  }

 private:
  static constexpr int kRamp = 80;
  static QString newest() { return QObject::tr("now"); }
  QString eldest() const {
    return m_oldest < 1 ? QObject::tr("%1 ms ago").arg(m_oldest * 1000, 0, 'f', 1)
                        : QObject::tr("%1 s ago").arg(m_oldest, 0, 'f', 1);
  }

  double m_oldest = 0;
  Theme m_theme;
};

PoolControls::PoolControls(QWidget* parent)
    : QWidget(parent),
      m_legend(new BlockLegend(
          {{{.role = BlockRole::Hit}, Theme::name(BlockRole::Hit), tr("A hit of the shown request")},
           {{.role = BlockRole::Relocated},
            Theme::name(BlockRole::Relocated),
            tr("A relocated hit of the shown request")},
           {{.role = BlockRole::Computed},
            Theme::name(BlockRole::Computed),
            tr("Computed for the shown request, or being computed")},
           {{.core = BlockCore::Dark},
            metricShortName("blocks-in-use"),
            tr("In use by other requests; frame only: by another run")},
           {{.core = BlockCore::Light}, metricShortName("cached-blocks"), metricMeaning("cached-blocks")},
           {{.role = BlockRole::Free}, Theme::name(BlockRole::Free), tr("Empty")}},
          this)),
      m_scale(new AgeScale(this)),
      m_choice(new QComboBox(this)) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(2 * kSpace);
  row->addWidget(m_legend);
  row->addWidget(m_scale);
  row->addWidget(m_choice);
  m_choice->addItem(tr("by state"), static_cast<int>(PoolShade::State));
  m_choice->addItem(tr("by age"), static_cast<int>(PoolShade::Age));
  m_choice->addItem(tr("over time"));
  m_choice->setAccessibleName(tr("Contents of the view"));
  m_choice->setToolTip(tr("Choose the meaning of colours, or the pool over time"));
  m_scale->hide();
  connect(m_choice, &QComboBox::activated, this, [this](int index) {
    if (!m_choice->itemData(index).isValid()) {
      Q_EMIT overTimeWanted();
      return;
    }
    Q_EMIT shadeWanted(static_cast<PoolShade>(m_choice->itemData(index).toInt()));
  });
}

void PoolControls::showShade(PoolShade shade, double oldest, bool anyLoaded, const Theme& theme) {
  m_legend->setTheme(theme);
  m_legend->showLoaded(anyLoaded);
  m_legend->setVisible(shade == PoolShade::State);
  m_scale->setVisible(shade == PoolShade::Age);
  m_scale->showScale(oldest, theme);
  m_choice->setCurrentIndex(m_choice->findData(static_cast<int>(shade)));
}

void PoolControls::showOverTime() {
  m_legend->hide();
  m_scale->hide();
  m_choice->setCurrentIndex(m_choice->count() - 1);
}

}  // namespace spanscope::ui
