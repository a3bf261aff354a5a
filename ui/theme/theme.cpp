// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/theme.h"

#include <QCoreApplication>
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusVariant>
#include <QElapsedTimer>
#include <QGuiApplication>
#include <QImage>
#include <QPainter>
#include <QPen>
#include <QtGlobal>

#include <algorithm>
#include <array>
#include <cmath>

/// Registers the resources, which a static library does not do by default. The macro must be outside all
/// namespaces.
static void initControls() {
  Q_INIT_RESOURCE(controls);
}

namespace spanscope::ui {

namespace {

struct Pair {
  QRgb light = 0;
  QRgb dark = 0;
};

Pair pairOf(Role role) {
  switch (role) {
    case Role::Window:
      return {0xF4F5F7, 0x15181D};
    case Role::Surface:
      return {0xFFFFFF, 0x1C2027};
    case Role::Canvas:
      return {0xFAFBFC, 0x171A20};
    case Role::Grid:
      return {0xDDE1E7, 0x2A2F38};
    case Role::Line:
      return {0xE1E4EA, 0x2B313B};
    case Role::Outline:
      return {0xC9CED8, 0x3D4552};
    case Role::Wire:
      return {0x868E9C, 0x656E7D};
    case Role::Text:
      return {0x1C2430, 0xE7EBF1};
    case Role::TextSecond:
      return {0x5C6777, 0xA3ADBB};
    case Role::TextThird:
      return {0x687384, 0x8F99A8};
    case Role::Accent:
      return {0x3457D5, 0x7C9BFF};
    case Role::AccentText:
      return {0xFFFFFF, 0x10131A};
    case Role::AccentFill:
      return {0xE3E9FB, 0x28324F};
    case Role::HitInk:
      return {0x12805C, 0x4CC79A};
    case Role::HitFill:
      return {0xD6F0E5, 0x14382C};
    case Role::RelocatedInk:
      return {0x1667B8, 0x62AEF5};
    case Role::RelocatedFill:
      return {0xD7E8FA, 0x15324E};
    case Role::ComputedInk:
      return {0xB45F06, 0xF0A24A};
    case Role::ComputedFill:
      return {0xFCE8CF, 0x46300F};
    case Role::EvictedInk:
      return {0x7A8290, 0x8C95A3};
    case Role::EvictedFill:
      return {0xE7EAEE, 0x2A2F37};
    case Role::Error:
      return {0xB3261E, 0xF2857D};
    case Role::ErrorFill:
      return {0xFBE4E2, 0x45211F};
  }
  return {};
}

constexpr std::array<Pair, kSegmentHues> kSegmentInks{{{0x5B4A9E, 0xB9A9F2},
                                                       {0xA33A5D, 0xF09BB5},
                                                       {0x23707F, 0x7CCBDA},
                                                       {0x7A6414, 0xDDC264},
                                                       {0x4C7328, 0xA5CF82},
                                                       {0x7A5A3C, 0xD2AE8E},
                                                       {0x8A3A8F, 0xE29BE4},
                                                       {0x4A5A6A, 0xB3C0CE}}};
constexpr std::array<Pair, kSegmentHues> kSegmentTints{{{0xE6E0F6, 0x322B4B},
                                                        {0xFBE3EA, 0x472732},
                                                        {0xDDEFF3, 0x1C3A42},
                                                        {0xF3ECD3, 0x3B3417},
                                                        {0xE3EED9, 0x283A1E},
                                                        {0xEDE3DA, 0x3B2E25},
                                                        {0xF6E2F6, 0x44294A},
                                                        {0xE2E8EE, 0x2B343E}}};

QColor choose(const Pair& pair, Scheme scheme) {
  return QColor::fromRgb(scheme == Scheme::Light ? pair.light : pair.dark);
}

constexpr int kTextureSize = 8;  // pixels

QImage emptyTexture() {
  QImage image(kTextureSize, kTextureSize, QImage::Format_ARGB32_Premultiplied);
  image.fill(Qt::transparent);
  return image;
}

QBrush hatch(QColor ink, double opacity, bool rising) {
  ink.setAlphaF(float(opacity));
  QImage image = emptyTexture();
  QPainter painter(&image);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(ink, 1.4));
  // Draws the line three times, so that lines continue across the borders of textures.
  for (const int shift : {-kTextureSize, 0, kTextureSize}) {
    if (rising)
      painter.drawLine(QPointF(shift, kTextureSize), QPointF(shift + kTextureSize, 0));
    else
      painter.drawLine(QPointF(shift, 0), QPointF(shift + kTextureSize, kTextureSize));
  }
  painter.end();
  return QBrush(image);
}

QBrush dots(QColor ink, double opacity) {
  ink.setAlphaF(float(opacity));
  QImage image = emptyTexture();
  QPainter painter(&image);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(ink);
  painter.drawEllipse(QPointF(2, 2), 1, 1);
  painter.drawEllipse(QPointF(6, 6), 1, 1);
  painter.end();
  return QBrush(image);
}

QFont font(const char* family, const char* fallback, int pixels, QFont::Weight weight) {
  QFont result;
  result.setFamilies({QString::fromLatin1(family), QString::fromLatin1(fallback)});
  result.setPixelSize(pixels);
  result.setWeight(weight);
  return result;
}

}  // namespace

QColor Theme::color(Role role) const {
  return choose(pairOf(role), m_scheme);
}

QColor Theme::segmentInk(std::size_t segment) const {
  return choose(kSegmentInks[segment % kSegmentHues], m_scheme);
}

QColor Theme::segmentTint(std::size_t segment) const {
  return choose(kSegmentTints[segment % kSegmentHues], m_scheme);
}

QBrush Theme::segmentPattern(std::size_t segment) const {
  const QColor gap = color(Role::Surface);
  switch (segment / kSegmentHues) {
    case 0:
      return {};
    case 1:
      return hatch(gap, 0.9, true);
    case 2:
      return dots(gap, 1);
    default:
      return hatch(gap, 0.9, false);
  }
}

QColor Theme::ink(BlockRole role) const {
  switch (role) {
    case BlockRole::Hit:
      return color(Role::HitInk);
    case BlockRole::Relocated:
      return color(Role::RelocatedInk);
    case BlockRole::Computed:
      return color(Role::ComputedInk);
    case BlockRole::Evicted:
      return color(Role::EvictedInk);
    case BlockRole::Free:
      break;
  }
  return color(Role::Outline);
}

QColor Theme::fill(BlockRole role) const {
  switch (role) {
    case BlockRole::Hit:
      return color(Role::HitFill);
    case BlockRole::Relocated:
      return color(Role::RelocatedFill);
    case BlockRole::Computed:
      return color(Role::ComputedFill);
    case BlockRole::Evicted:
      return color(Role::EvictedFill);
    case BlockRole::Free:
      break;
  }
  return color(Role::Surface);
}

QBrush Theme::pattern(BlockRole role) const {
  switch (role) {
    case BlockRole::Relocated:
      return hatch(ink(role), 0.30, true);
    case BlockRole::Computed:
      return dots(ink(role), 0.38);
    case BlockRole::Evicted:
      return hatch(ink(role), 0.45, false);
    case BlockRole::Hit:
    case BlockRole::Free:
      break;
  }
  return Qt::NoBrush;
}

QString Theme::name(BlockRole role) {
  switch (role) {
    case BlockRole::Hit:
      return QCoreApplication::translate("theme", "hit");
    case BlockRole::Relocated:
      return QCoreApplication::translate("theme", "relocated hit");
    case BlockRole::Computed:
      return QCoreApplication::translate("theme", "computed");
    case BlockRole::Evicted:
      return QCoreApplication::translate("theme", "evicted");
    case BlockRole::Free:
      break;
  }
  return QCoreApplication::translate("theme", "free");
}

QColor Theme::heat(double t) {
  // Sixteen colours of cividis (Nuñez, Anderton, Renslow 2018). Colours in between are interpolated.
  constexpr std::array<QRgb, 16> kCividis{0x00224E, 0x052C66, 0x1D366D, 0x313F6D, 0x414A6C, 0x4F556D,
                                          0x5D5F70, 0x6A6B75, 0x787878, 0x878478, 0x969178, 0xA69F75,
                                          0xB8AE6F, 0xCABE67, 0xDECF5A, 0xFEE838};
  if (!std::isfinite(t)) t = 0;
  const double place = std::clamp(t, 0.0, 1.0) * double(kCividis.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), kCividis.size() - 2);
  const double share = place - double(below);
  const QColor a = QColor::fromRgb(kCividis[below]);
  const QColor b = QColor::fromRgb(kCividis[below + 1]);
  const auto mix = [share](int from, int to) {
    return static_cast<int>(std::lround(from + share * (to - from)));
  };
  return QColor(mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue()));
}

QFont Theme::interfaceFont() const {
  return font("Inter", "DejaVu Sans", 13, QFont::Normal);
}

QFont Theme::titleFont() const {
  return font("Inter", "DejaVu Sans", 12, QFont::DemiBold);
}

QFont Theme::smallFont() const {
  return font("Inter", "DejaVu Sans", 11, QFont::Normal);
}

QFont Theme::monoFont() const {
  QFont mono = font("JetBrains Mono", "DejaVu Sans Mono", 11, QFont::Normal);
  // No ligatures: the font would draw "<|" as a triangle and "!=" as one sign in tokens and JSON.
  mono.setStyleStrategy(QFont::PreferNoShaping);
  return mono;
}

QPalette Theme::palette() const {
  QPalette palette;
  palette.setColor(QPalette::Window, color(Role::Window));
  palette.setColor(QPalette::WindowText, color(Role::Text));
  palette.setColor(QPalette::Base, color(Role::Surface));
  palette.setColor(QPalette::AlternateBase, color(Role::Canvas));
  palette.setColor(QPalette::Text, color(Role::Text));
  palette.setColor(QPalette::PlaceholderText, color(Role::TextThird));
  palette.setColor(QPalette::Button, color(Role::Surface));
  palette.setColor(QPalette::ButtonText, color(Role::Text));
  palette.setColor(QPalette::ToolTipBase, color(Role::Surface));
  palette.setColor(QPalette::ToolTipText, color(Role::Text));
  palette.setColor(QPalette::Highlight, color(Role::AccentFill));
  palette.setColor(QPalette::HighlightedText, color(Role::Text));
  palette.setColor(QPalette::Link, color(Role::Accent));
  palette.setColor(QPalette::LinkVisited, color(Role::Accent));
  palette.setColor(QPalette::Light, color(Role::Surface));
  palette.setColor(QPalette::Midlight, color(Role::Line));
  palette.setColor(QPalette::Mid, color(Role::Outline));
  palette.setColor(QPalette::Dark, color(Role::Outline));
  palette.setColor(QPalette::Shadow, color(Role::Line));
  for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    palette.setColor(QPalette::Disabled, role, color(Role::EvictedInk));
  }
  return palette;
}

// The style sheet sets the shapes of controls, which a palette cannot set.

namespace {

// styleSheet() replaces words in braces by colours, and {icons} by the folder of the small arrows.
constexpr const char* kSheet = R"(
QWidget { color: {text}; }
QMainWindow, QDialog { background: {window}; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
/* Platforms set fonts for these classes, which would win over the application's. */
QPushButton, QToolButton, QTabBar, QComboBox, QSpinBox, QDoubleSpinBox, QLineEdit, QCheckBox, QMenu, QMenuBar, QListView,
QStatusBar, #statusBar QLabel, #noticeBar QLabel, QToolTip { font-family: "Inter", "DejaVu Sans"; font-size: 13px; }
QMainWindow::separator { background: {window}; width: 8px; height: 8px; }
QToolTip { background: {surface}; color: {text}; border: 1px solid {outline}; padding: 6px; }

QDockWidget { border: none; }
QDockWidget[floating="true"] { background: {window}; border: 1px solid {outline}; }
#dockCard { background: {surface}; border: 1px solid {line}; border-radius: 6px; }
#dockTitle { background: {surface}; border: 1px solid {line}; border-top-left-radius: 6px; border-top-right-radius: 6px; }
#dockBody { background: {surface}; border: 1px solid {line}; border-top: none; border-bottom-left-radius: 6px;
  border-bottom-right-radius: 6px; }
#dockTitle[lit="true"] { background: {accentfill}; border-color: {accent}; }
#dockBody[lit="true"] { border-color: {accent}; }
#dockSummary, #dockUnreported { color: {second}; }
#topBar, #statusBar { background: {surface}; }
#topBar { border-bottom: 1px solid {line}; }
#statusBar { border-top: 1px solid {line}; }
QStatusBar::item { border: none; }
#noticeBar { background: {accentfill}; border: none; border-bottom: 1px solid {line}; }

QPushButton, QToolButton, QComboBox, QSpinBox, QDoubleSpinBox {
  background: {surface}; border: 1px solid {outline}; border-radius: 5px; padding: 4px 10px; min-height: 16px; }
QToolButton { padding: 3px 6px; }
QPushButton:hover, QToolButton:hover, QComboBox:hover { background: {canvas}; border-color: {third}; }
QPushButton:pressed, QToolButton:pressed, QToolButton:checked { background: {accentfill}; }
QPushButton:disabled, QToolButton:disabled, QComboBox:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled { color: {disabled}; border-color: {line}; }
QPushButton:focus, QToolButton:focus, QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus, QLineEdit:focus,
QPlainTextEdit:focus, QTextEdit:focus, QTextBrowser:focus { border: 1px solid {accent}; }
QPushButton#primary { background: {accent}; color: {accenttext}; border-color: {accent}; font-weight: 600; }
QLineEdit:disabled { color: {disabled}; }
QPushButton#primary:disabled { background: {line}; border-color: {line}; color: {disabled}; }
#segments { background: {window}; border: 1px solid {outline}; border-radius: 6px; }
QPushButton#segment { background: transparent; border: 1px solid transparent; border-radius: 5px; padding: 4px 14px; }
QPushButton#segment:checked { background: {accentfill}; color: {accent}; border-color: {accentfill}; }
QPushButton#segment:focus { border: 1px solid {accent}; }
QPushButton[flat="true"], QToolButton[autoRaise="true"] { background: transparent; border: 1px solid transparent; }
QPushButton[flat="true"]:hover, QToolButton[autoRaise="true"]:hover { background: {accentfill}; }
QPushButton[flat="true"]:focus, QToolButton[autoRaise="true"]:focus { border: 1px solid {accent}; }
QToolButton::menu-indicator { image: none; }

QComboBox::drop-down { border: none; width: 18px; }
QComboBox::down-arrow { image: url({icons}down.svg); width: 10px; height: 10px; }
QComboBox QAbstractItemView { background: {surface}; border: 1px solid {outline}; selection-background-color: {accentfill};
  selection-color: {text}; outline: none; }
QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button, QDoubleSpinBox::down-button {
  border: none; background: transparent; width: 16px; }
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow { image: url({icons}up.svg); width: 9px; height: 9px; }
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow { image: url({icons}down.svg); width: 9px; height: 9px; }

QLineEdit, QPlainTextEdit, QTextEdit, QTextBrowser {
  background: {surface}; border: 1px solid {outline}; border-radius: 5px; padding: 4px 6px;
  selection-background-color: {accentfill}; selection-color: {text}; }
QPlainTextEdit[readOnly="true"], QTextEdit[readOnly="true"] { background: {canvas}; }
QPlainTextEdit#bare, QTextEdit#bare, QTextBrowser#bare { border: none; background: {surface}; }

QListView, QTreeView, QTableView, QListWidget, QTreeWidget, QTableWidget {
  background: {surface}; border: none; outline: none; alternate-background-color: {canvas};
  selection-background-color: {accentfill}; selection-color: {text}; gridline-color: {line}; }
QListView::item, QTreeView::item { padding: 4px 6px; border-radius: 4px; }
QListView::item:hover, QTreeView::item:hover, QTableView::item:hover { background: {canvas}; }
QListView::item:selected, QTreeView::item:selected, QTableView::item:selected { background: {accentfill}; color: {text}; }
QListView:focus, QTreeView:focus, QTableView:focus { border: 1px solid {accent}; }
QHeaderView { background: {surface}; }
QHeaderView::section { background: {surface}; color: {second}; border: none; border-bottom: 1px solid {line}; padding: 4px 6px; }
QTableCornerButton::section { background: {surface}; border: none; }

QMenuBar { background: {surface}; padding: 2px 6px; }
QMenuBar::item { padding: 4px 8px; border-radius: 4px; background: transparent; }
QMenuBar::item:selected { background: {accentfill}; }
QMenu { background: {surface}; border: 1px solid {outline}; padding: 4px; }
QMenu::item { padding: 5px 24px 5px 24px; border-radius: 4px; }
QMenu::item:selected { background: {accentfill}; }
QMenu::item:disabled { color: {disabled}; }
QMenu::right-arrow { image: url({icons}right.svg); width: 10px; height: 10px; margin-right: 8px; }
QMenu::separator { height: 1px; background: {line}; margin: 4px 8px; }

QTabBar { background: transparent; qproperty-drawBase: 0; }
QTabBar::tab { background: transparent; border: none; border-bottom: 2px solid transparent; padding: 4px 12px 5px 12px; color: {second}; }
QTabBar[isNarrow="true"]::tab { padding: 4px 7px 5px 7px; }
#topBar QTabBar::tab { padding: 10px 14px; max-width: 220px; }
QTabBar::tab:selected { color: {text}; border-bottom: 2px solid {accent}; }
QTabBar::tab:hover { color: {text}; }
QTabBar::tab:focus { color: {accent}; }
QTabWidget::pane { border: none; border-top: 1px solid {line}; }
QTabBar::tear { width: 0; border: none; }
QTabBar::scroller { width: 24px; }
QTabBar QToolButton { border: none; background: {surface}; padding: 0; min-height: 0; }
#topBar QTabBar QToolButton { margin-bottom: 3px; }
QTabBar::close-button { image: url({icons}close.svg); width: 12px; height: 12px; }

QScrollArea { border: none; background: transparent; }
QAbstractScrollArea::corner { background: transparent; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: {outline}; border-radius: 3px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 24px; }
QScrollBar::handle:horizontal { min-width: 24px; }
QScrollBar::handle:hover { background: {third}; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }

QCheckBox { spacing: 6px; }
QCheckBox::indicator { width: 14px; height: 14px; border: 1px solid {third}; border-radius: 3px; background: {surface}; }
QCheckBox::indicator:checked { background: {accent}; border-color: {accent}; image: url({icons}check.svg); }
QCheckBox:focus { color: {accent}; }
QGroupBox { border: 1px solid {line}; border-radius: 6px; margin-top: 14px; padding: 8px; }
QGroupBox::title { subcontrol-origin: margin; left: 8px; color: {second}; }
QProgressBar { background: {line}; border: none; border-radius: 2px; max-height: 4px; }
QProgressBar::chunk { background: {accent}; border-radius: 2px; }
QSplitter::handle { background: {line}; }
)";

}  // namespace

QString Theme::styleSheet() const {
  initControls();
  QString sheet = QString::fromLatin1(kSheet);
  const auto put = [&sheet](const char* word, const QString& value) {
    sheet.replace(QLatin1Char('{') + QString::fromLatin1(word) + QLatin1Char('}'), value);
  };
  const auto putColor = [&](const char* word, Role role) { put(word, color(role).name()); };
  putColor("window", Role::Window);
  putColor("surface", Role::Surface);
  putColor("canvas", Role::Canvas);
  putColor("line", Role::Line);
  putColor("outline", Role::Outline);
  putColor("text", Role::Text);
  putColor("second", Role::TextSecond);
  putColor("third", Role::TextThird);
  putColor("disabled", Role::EvictedInk);
  putColor("accent", Role::Accent);
  putColor("accenttext", Role::AccentText);
  putColor("accentfill", Role::AccentFill);
  put("icons", m_scheme == Scheme::Light ? QStringLiteral(":/spanscope/controls/light/")
                                         : QStringLiteral(":/spanscope/controls/dark/"));
  return sheet;
}

QVariant portalSetting(const QString& space, const QString& key) {
  constexpr int kTimeout = 250;  // milliseconds
  const QDBusConnection bus = QDBusConnection::sessionBus();
  if (!bus.isConnected()) return {};
  QDBusMessage call = QDBusMessage::createMethodCall(
      QStringLiteral("org.freedesktop.portal.Desktop"), QStringLiteral("/org/freedesktop/portal/desktop"),
      QStringLiteral("org.freedesktop.portal.Settings"), QStringLiteral("Read"));
  call << space << key;
  const QDBusMessage answer = bus.call(call, QDBus::Block, kTimeout);
  if (answer.type() != QDBusMessage::ReplyMessage || answer.arguments().isEmpty()) return {};
  // D-Bus wraps the value in variants.
  QVariant value = answer.arguments().constFirst();
  while (value.canConvert<QDBusVariant>()) value = value.value<QDBusVariant>().variant();
  return value;
}

namespace {

bool askDesktop() {
  const QVariant reduced =
      portalSetting(QStringLiteral("org.freedesktop.appearance"), QStringLiteral("reduced-motion"));
  if (reduced.isValid() && reduced.toUInt() == 1) return false;
  const QVariant animates =
      portalSetting(QStringLiteral("org.gnome.desktop.interface"), QStringLiteral("enable-animations"));
  return !animates.isValid() || animates.toBool();
}

}  // namespace

bool desktopAllowsMotion() {
  constexpr qint64 kCounts = 5'000;  // milliseconds
  static QElapsedTimer asked;
  static bool allowed = true;
  if (asked.isValid() && asked.elapsed() < kCounts) return allowed;
  allowed = askDesktop();
  asked.start();
  return allowed;
}

Scheme systemScheme() {
  constexpr unsigned kPreferDark = 1;
  constexpr unsigned kPreferLight = 2;
  const QVariant reported =
      portalSetting(QStringLiteral("org.freedesktop.appearance"), QStringLiteral("color-scheme"));
  if (reported.isValid() && reported.toUInt() == kPreferDark) return Scheme::Dark;
  if (reported.isValid() && reported.toUInt() == kPreferLight) return Scheme::Light;
  return QGuiApplication::palette().color(QPalette::Window).lightness() < 128 ? Scheme::Dark : Scheme::Light;
}

}  // namespace spanscope::ui
