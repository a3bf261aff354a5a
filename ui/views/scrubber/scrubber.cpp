// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/scrubber/scrubber.h"

#include "ui/views/common/elided_text.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/scrubber/scrubber_track.h"
#include "ui/words/tr.h"

#include <QAbstractItemView>
#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QPainterPath>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace spanscope::ui {
namespace {

constexpr int kLeastHeight = 44;  // room for marks, track and the numbers of runs, even if there are none yet
constexpr int kLeastRuns = 140;   // width of the list of runs, pixels
constexpr int kLeastWidth = 520;  // pixels; a narrow scrubber has the short label
constexpr int kIcon = 16;
constexpr double kNudge = 0.25;  // of a beat

QString speedText(double speed) {
  if (speed == 0.25) return QStringLiteral("¼×");
  if (speed == 0.5) return QStringLiteral("½×");
  return QStringLiteral("%1×").arg(speed);
}

}  // namespace

Scrubber::Scrubber(QWidget* parent)
    // Every input is shown immediately, because steps count from the shown position.
    : RunView(parent, InputPart::WholeTrace, Pace::EveryInput),
      m_track(new ScrubberTrack(this)),
      m_label(new QLabel(this)) {
  setAccessibleName(tr("Time"));
  m_first = makeButton(tr("First"), tr("Go to the beginning"));
  m_back = makeButton(tr("Back"), tr("Go one event back"));
  m_playButton = makeButton(tr("Play"), tr("Play through the events"));
  m_next = makeButton(tr("Next"), tr("Go one event forward"));
  m_last = makeButton(tr("Last"), tr("Go to now, and follow new events"));
  m_label->setAccessibleName(tr("Event and time"));
  m_label->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(2 * kSpace, 0, 3 * kSpace, 0);
  column->setSpacing(0);
  auto* layout = new QHBoxLayout;
  layout->setSpacing(kSpace);
  setMinimumSize(kLeastWidth, kLeastHeight);
  for (QToolButton* button : {m_first, m_back, m_playButton, m_next, m_last}) layout->addWidget(button);
  makeSpeed();
  layout->addWidget(m_speed);
  m_runs = new ElidedCombo(this);
  m_runs->setAccessibleName(tr("Shown run"));
  m_runs->setPlaceholderText(tr("Choose an earlier run"));
  m_runs->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  m_runs->setMinimumContentsLength(24);
  m_runs->setMinimumWidth(kLeastRuns);
  m_runs->view()->setTextElideMode(Qt::ElideRight);
  ignoreWheelWithoutFocus(m_runs);
  connect(m_runs, &QComboBox::activated, this, [this](int index) {
    const RunId run = m_runs->itemData(index).toUInt();
    if (run != 0) Q_EMIT commandWanted(QStringLiteral("run.show:%1").arg(run));
  });
  layout->insertWidget(0, m_runs);
  m_start = new QLabel(tr("start"), this);
  m_start->setToolTip(tr("The first event is at this end of the track"));
  m_end = new QLabel(this);
  layout->addWidget(m_start);
  layout->addWidget(m_track, 1);
  layout->addWidget(m_end);
  layout->addWidget(m_label);
  column->addLayout(layout, 1);

  m_totals = new QLabel(this);
  m_totals->setTextFormat(Qt::PlainText);
  m_totals->setWordWrap(true);
  m_totals->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  m_totals->setAccessibleName(tr("Totals of the marked range"));
  m_copy = new QToolButton(this);
  m_copy->setText(tr("Copy"));
  m_copy->setToolTip(tr("Copy the totals of the marked range. Escape clears the range."));
  m_copy->setAutoRaise(true);
  auto* totals = new QHBoxLayout;
  totals->setContentsMargins(kSpace, 0, 0, kSpace);
  totals->addWidget(m_totals, 1);
  totals->addWidget(m_copy);
  column->addLayout(totals);
  m_totals->hide();
  m_copy->hide();

  connect(m_first, &QToolButton::clicked, this, &Scrubber::toStart);
  connect(m_back, &QToolButton::clicked, this, [this] { step(-1); });
  connect(m_playButton, &QToolButton::clicked, this, [this] { setPlaying(!isPlaying()); });
  connect(m_next, &QToolButton::clicked, this, [this] { step(1); });
  connect(m_last, &QToolButton::clicked, this, &Scrubber::toEnd);
  connect(m_track, &ScrubberTrack::moved, this, [this](double place) {
    setPlaying(false);
    m_player.goTo(place);
  });
  connect(m_track, &ScrubberTrack::markedChanged, this, &Scrubber::showTotals);
  connect(m_copy, &QToolButton::clicked, this, &Scrubber::copyTotals);
  connect(&m_player, &Player::positionWanted, this, &View::positionWanted);
  connect(&m_player, &Player::momentChanged, this, &Scrubber::showMoment);
  connect(&m_player, &Player::playingChanged, this, &Scrubber::drawIcons);
}

void Scrubber::makeSpeed() {
  m_speed = new QToolButton(this);
  m_speed->setAutoRaise(true);
  m_speed->setFixedSize(32, 28);
  m_speed->setPopupMode(QToolButton::InstantPopup);
  m_speed->setAccessibleName(tr("Speed of playing"));
  auto* menu = new QMenu(m_speed);
  auto* group = new QActionGroup(menu);
  for (std::size_t i = 0; i < Player::speeds().size(); ++i) {
    QAction* action = menu->addAction(speedText(Player::speeds()[i]), this, [this, i] {
      m_player.setSpeed(i);
      showSpeed();
    });
    action->setCheckable(true);
    group->addAction(action);
  }
  m_speed->setMenu(menu);
  // No arrow beside the text: there is no room for one.
  m_speed->setStyleSheet(QStringLiteral("QToolButton::menu-indicator { image: none; }"));
  showSpeed();
}

void Scrubber::showSpeed() {
  m_speed->setText(speedText(m_player.speed()));
  m_speed->menu()->actions().at(static_cast<int>(m_player.speedIndex()))->setChecked(true);
  m_speed->setAccessibleDescription(m_speed->text());
  m_speed->setToolTip(tr("Speed of playing: %1 (+ faster, − slower)").arg(m_speed->text()));
}

void Scrubber::showMoment(const Moment& moment) {
  // The handle shows new events immediately. Only the views show their motion.
  m_track->setMoment(m_player.isLive() ? Moment() : moment);
  Q_EMIT momentChanged(moment);
}

QToolButton* Scrubber::makeButton(const QString& name, const QString& tip) {
  auto* button = new QToolButton(this);
  button->setAccessibleName(name);
  button->setToolTip(tip);
  button->setAutoRaise(true);
  button->setAutoRepeat(name == tr("Back") || name == tr("Next"));
  button->setIconSize({kIcon, kIcon});
  button->setFixedSize(28, 28);
  return button;
}

QIcon Scrubber::icon(Glyph glyph) const {
  const auto draw = [&](const QColor& ink) {
    constexpr int kScale = 2;
    QPixmap picture(kIcon * kScale, kIcon * kScale);
    picture.setDevicePixelRatio(kScale);
    picture.fill(Qt::transparent);
    QPainter painter(&picture);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(ink);
    const auto arrow = [&painter](double tip, double base) {
      painter.drawPolygon(QPolygonF({QPointF(tip, 8), QPointF(base, 2), QPointF(base, 14)}));
    };
    switch (glyph) {
      case Glyph::First:
        painter.drawRect(QRectF(2, 2, 2, 12));
        arrow(5, 14);
        break;
      case Glyph::Back:
        arrow(3, 12);
        break;
      case Glyph::Play:
        arrow(14, 3);
        break;
      case Glyph::Pause:
        painter.drawRect(QRectF(3, 2, 4, 12));
        painter.drawRect(QRectF(9, 2, 4, 12));
        break;
      case Glyph::Next:
        arrow(11, 2);
        painter.drawRect(QRectF(11, 2, 2, 12));
        break;
      case Glyph::Last:
        arrow(9, 2);
        arrow(14, 7);
        painter.drawRect(QRectF(13, 2, 2, 12));
        break;
    }
    return picture;
  };
  QIcon result;
  result.addPixmap(draw(theme().color(Role::Text)), QIcon::Normal);
  result.addPixmap(draw(theme().color(Role::Outline)), QIcon::Disabled);
  return result;
}

void Scrubber::drawIcons() {
  m_first->setIcon(icon(Glyph::First));
  m_back->setIcon(icon(Glyph::Back));
  m_playButton->setIcon(icon(isPlaying() ? Glyph::Pause : Glyph::Play));
  m_playButton->setAccessibleName(isPlaying() ? tr("Pause") : tr("Play"));
  m_next->setIcon(icon(Glyph::Next));
  m_last->setIcon(icon(Glyph::Last));
}

QString Scrubber::emptyText() const {
  if (m_model.total > 0) return {};
  return tr("Run a query, then move through its events.");
}

QString Scrubber::runsTip() const {
  QStringList lines{tr("Runs of this query with all models and settings, newest first.")};
  const QString older = input()->keyOf(QStringLiteral("run.older"));
  const QString newer = input()->keyOf(QStringLiteral("run.newer"));
  if (!older.isEmpty()) lines += tr("%1: the older run").arg(older);
  if (!newer.isEmpty()) lines += tr("%1: the newer run").arg(newer);
  return lines.join(QLatin1Char('\n'));
}

void Scrubber::refresh() {
  m_model = scrubberModel(*input(), m_bins, m_choices);
  m_player.follow(input()->trace, m_model.position);
  if (!m_drawn || m_shown != theme()) {
    m_drawn = true;
    m_shown = theme();
    drawIcons();
    m_label->setStyleSheet(QStringLiteral("color: %1").arg(m_shown.color(Role::TextSecond).name()));
    m_label->setFont(m_shown.monoFont());
    for (QLabel* end : {m_start, m_end}) {
      end->setFont(m_shown.smallFont());
      colorLabel(*end, m_shown, Role::TextSecond);
    }
  }
  const bool any = m_model.total > 0;
  fillRuns();
  m_runs->setToolTip(runsTip());
  m_track->setVisible(any);
  m_label->setVisible(any);
  // A session can go on. A recording cannot.
  const bool isLive = input()->replay.origin == TraceOrigin::Session;
  m_end->setText(isLive ? tr("now") : tr("end"));
  m_end->setToolTip(tr("The newest event is at this end of the track"));
  for (QToolButton* button : {m_first, m_back, m_playButton, m_next, m_last, m_speed})
    button->setVisible(any);
  m_first->setEnabled(m_model.position > 0);
  m_back->setEnabled(m_model.position > 0);
  m_next->setEnabled(m_model.position < m_model.total);
  m_last->setEnabled(m_model.position < m_model.total);
  fitLabels();
  // Texts of a prompt may look like markup.
  m_label->setToolTip(m_model.event.isEmpty()
                          ? QString()
                          : QStringLiteral("<p>%1<br>%2</p>")
                                .arg(m_model.event.toHtmlEscaped(), m_model.exact.toHtmlEscaped()));
  m_track->setContent(m_model, *input());
  // Later events may decide how the tokens of a request count.
  if (!m_track->marked().isEmpty() && m_totalled != input()->trace->size()) showTotals();
  update();
}

void Scrubber::fillRuns() {
  m_runs->setVisible(m_model.choices.size() > 1);
  if (m_model.choices != m_offered) {
    m_offered = m_model.choices;
    m_runs->clear();
    QString longest;  // only the longest is measured, because measuring takes long
    for (const RunChoice& choice : m_offered) {
      m_runs->addItem(choice.text, choice.run);
      m_runs->setItemData(m_runs->count() - 1, choice.help, Qt::ToolTipRole);
      // A run without its trace cannot be shown here, but other views have its metrics.
      if (!choice.hasTrace) m_runs->setItemData(m_runs->count() - 1, 0, Qt::UserRole - 1);
      if (choice.text.size() > longest.size()) longest = choice.text;
    }
    m_runs->view()->setMinimumWidth(m_runs->fontMetrics().horizontalAdvance(longest) + 8 * kSpace);
  }
  const auto shown = std::find_if(m_offered.begin(), m_offered.end(),
                                  [this](const RunChoice& choice) { return choice.run == m_model.run; });
  m_runs->setCurrentIndex(shown == m_offered.end() ? -1 : static_cast<int>(shown - m_offered.begin()));
}

QString Scrubber::label() const {
  return m_model.label;
}

void Scrubber::fitLabels() {
  // Wide enough for every number of the trace, so that the track does not move while it is dragged.
  const QString widest =
      tr("event %1 of %1 · %2").arg(m_model.total).arg(durationText(0.9999)) + QStringLiteral("  ");
  const QFontMetrics metrics(m_label->font());
  const int wide = metrics.horizontalAdvance(widest);
  const int speedAndButtons = 6 * (28 + kSpace) + kSpace;
  const int ends = m_start->sizeHint().width() + m_end->sizeHint().width() + 2 * kSpace;
  const int others = speedAndButtons + m_track->minimumSizeHint().width() + 8 * kSpace;
  const int narrow = metrics.horizontalAdvance(tr("%1 of %1").arg(m_model.total));
  // The whole name of the run has precedence over the long label.
  constexpr int kArrow = 10 * kSpace;
  const int most = std::min(width() / 3, width() - others - narrow - kSpace);
  const int wanted = m_runs->fontMetrics().horizontalAdvance(m_runs->currentText()) + kArrow;
  const int runs = m_runs->isHidden() ? 0 : std::max(kLeastRuns, std::min(wanted, most)) + kSpace;
  if (runs > 0) m_runs->setMinimumWidth(runs - kSpace);
  const bool isShort = others + runs + ends + wide > width();
  const bool any = m_model.total > 0;
  m_start->setVisible(any && !isShort);
  m_end->setVisible(any && !isShort);
  m_label->setText(isShort ? tr("%1 of %2").arg(m_model.position).arg(m_model.total) : m_model.label);
  m_label->setMinimumWidth(isShort ? narrow : wide);
}

void Scrubber::resizeEvent(QResizeEvent* event) {
  RunView::resizeEvent(event);
  if (input() != nullptr) fitLabels();
}

void Scrubber::showTotals() {
  const EventRange range = m_track->marked();
  const bool any = input() != nullptr && !range.isEmpty();
  m_totals->setVisible(any);
  m_copy->setVisible(any);
  if (any) {
    m_totalled = input()->trace->size();
    m_totals->setText(rangeText(rangeTotals(*input()->trace, range)));
    m_totals->setFont(theme().smallFont());
    m_copy->setFont(theme().smallFont());
    colorLabel(*m_totals, theme(), Role::TextSecond);
  } else {
    m_totals->clear();
  }
  m_totals->setAccessibleDescription(m_totals->text());
  const int more = QFontMetrics(theme().smallFont()).height() + 2 * kSpace;
  setMinimumHeight(any ? kLeastHeight + more : kLeastHeight);
}

QString Scrubber::totalsText() const {
  return m_totals->text();
}

void Scrubber::copyTotals() const {
  if (!totalsText().isEmpty()) QApplication::clipboard()->setText(totalsText());
}

bool Scrubber::event(QEvent* event) {
  // Otherwise the window's own Copy would take the key.
  if (event->type() == QEvent::ShortcutOverride && !totalsText().isEmpty() &&
      static_cast<QKeyEvent*>(event)->matches(QKeySequence::Copy)) {
    event->accept();
    return true;
  }
  return RunView::event(event);
}

void Scrubber::go(std::size_t position) {
  if (input() == nullptr) return;
  position = std::min(position, input()->trace->size());
  if (position != m_model.position) Q_EMIT positionWanted(position);
}

void Scrubber::step(std::int64_t events) {
  setPlaying(false);
  // The event in motion has not happened yet.
  if (m_player.settle() && events > 0) --events;
  const auto now = static_cast<std::int64_t>(m_model.position);
  go(static_cast<std::size_t>(std::max<std::int64_t>(0, now + events)));
}

void Scrubber::toStart() {
  setPlaying(false);
  go(0);
}

void Scrubber::toEnd() {
  setPlaying(false);
  if (input() != nullptr) go(input()->trace->size());
}

void Scrubber::setPlaying(bool playing) {
  if (input() != nullptr) m_player.setPlaying(playing);
}

void Scrubber::keyPressEvent(QKeyEvent* event) {
  if (m_track->takeRangeKey(*event)) return;
  if (event->matches(QKeySequence::Copy) && !totalsText().isEmpty()) {
    copyTotals();
    return;
  }
  switch (event->key()) {
    case Qt::Key_Left:
      step(-1);
      break;
    case Qt::Key_Right:
      step(1);
      break;
    case Qt::Key_Home:
      toStart();
      break;
    case Qt::Key_End:
      toEnd();
      break;
    case Qt::Key_Period:
      setPlaying(false);
      m_player.nudge(kNudge);
      break;
    case Qt::Key_Comma:
      setPlaying(false);
      m_player.nudge(-kNudge);
      break;
    case Qt::Key_Plus:
      m_player.setSpeed(m_player.speedIndex() + 1);
      showSpeed();
      break;
    case Qt::Key_Minus:
      m_player.setSpeed(m_player.speedIndex() - std::min<std::size_t>(1, m_player.speedIndex()));
      showSpeed();
      break;
    case Qt::Key_Space:
    case Qt::Key_P:
      setPlaying(!isPlaying());
      break;
    default:
      RunView::keyPressEvent(event);
  }
}

QString Scrubber::csv() const {
  if (input() == nullptr || input()->trace->size() == 0) return {};
  const ScrubberModel model = scrubberModel(*input());
  QString text = csvLine({tr("first event"), tr("last event"), tickName(TickKind::Computed),
                          tickName(TickKind::Relocated), tickName(TickKind::Hit), tickName(TickKind::Token),
                          tickName(TickKind::Other)});
  for (std::size_t bin = 0; bin < model.bins.size(); ++bin) {
    QStringList fields{QString::number(bin * model.eventsPerBin + 1),
                       QString::number(std::min((bin + 1) * model.eventsPerBin, model.total))};
    for (const std::uint32_t count : model.bins[bin].counts) fields.push_back(QString::number(count));
    text += csvLine(fields);
  }
  return text;
}

void Scrubber::paintTo(QPainter& painter, const QSize& size) {
  if (input() != nullptr) refresh();
  if (paintIfEmpty(painter, size)) return;
  const Theme now = theme();
  const QRect area(QPoint(), size);
  painter.fillRect(area, now.color(Role::Surface));
  const int label = QFontMetrics(now.monoFont()).horizontalAdvance(m_model.label) + 4 * kSpace;
  m_track->paint(painter, area.adjusted(2 * kSpace, 0, -label - 2 * kSpace, 0));
  painter.setFont(now.monoFont());
  painter.setPen(now.color(Role::TextSecond));
  painter.drawText(area.adjusted(0, 0, -3 * kSpace, 0), Qt::AlignRight | Qt::AlignVCenter, m_model.label);
}

ViewInfo scrubberRow() {
  return {.id = QStringLiteral("scrubber"),
          .title = tr("Time"),
          .help = tr("Move through the events of a run"),
          .make = makeViewOf<Scrubber>,
          .places = {{LayoutId::Explain, Room::Low, Room::Large, ViewPlace::kBelow, 0, 0, 6},
                     {LayoutId::Measure, Room::Low, Room::Large, ViewPlace::kBelow, 0, 0, 6}},
          .isStrip = true};
}

}  // namespace spanscope::ui
