// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/pool/pool_controls.h"

#include "ui/views/common/block_painter.h"

#include <QComboBox>
#include <QFontMetrics>
#include <QHBoxLayout>
#include <QPainter>

namespace spanscope::ui {

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
      m_legend(
          new BlockLegend({{{.role = BlockRole::Hit},
                            Theme::name(BlockRole::Hit),
                            tr("Serves the shown request, found where it was")},
                           {{.role = BlockRole::Relocated},
                            Theme::name(BlockRole::Relocated),
                            tr("Serves the shown request, found at another position")},
                           {{.role = BlockRole::Computed},
                            Theme::name(BlockRole::Computed),
                            tr("Computed for the shown request, or being computed")},
                           {{.core = BlockCore::Dark},
                            tr("held"),
                            tr("Other requests hold it; a frame alone: requests of another run")},
                           {{.core = BlockCore::Light},
                            tr("cached"),
                            tr("Nobody holds it; it can be found until it is evicted")},
                           {{.role = BlockRole::Free}, Theme::name(BlockRole::Free), tr("Holds nothing")}},
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
  m_choice->setAccessibleName(tr("What is shown of the pool"));
  m_choice->setToolTip(tr("What the colour of a block says, or how full the pool is over time"));
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
