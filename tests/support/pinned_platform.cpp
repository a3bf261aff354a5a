// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/pinned_platform.h"

#include <QApplication>
#include <QFile>
#include <QFontDatabase>
#include <QLocale>
#include <QProxyStyle>
#include <QStringList>

namespace spanscope::test {
namespace {

/// Fusion without animations.
class StillStyle : public QProxyStyle {
 public:
  StillStyle() : QProxyStyle(QStringLiteral("Fusion")) {}

  int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                QStyleHintReturn* returned) const override {
    if (hint == SH_Widget_Animation_Duration || hint == SH_Widget_Animate) return 0;
    return QProxyStyle::styleHint(hint, option, widget, returned);
  }
};

/// Rules for `target`: grey antialiasing and outlines as the font has them.
QString fontRules(const char* target) {
  return QStringLiteral(R"(  <match target="%1">
    <edit name="antialias" mode="assign"><bool>true</bool></edit>
    <edit name="hinting" mode="assign"><bool>false</bool></edit>
    <edit name="autohint" mode="assign"><bool>false</bool></edit>
    <edit name="hintstyle" mode="assign"><const>hintnone</const></edit>
    <edit name="rgba" mode="assign"><const>none</const></edit>
    <edit name="lcdfilter" mode="assign"><const>lcdnone</const></edit>
    <edit name="embeddedbitmap" mode="assign"><bool>false</bool></edit>
  </match>
)")
      .arg(QLatin1String(target));
}

QString fontConfiguration(const QString& cache) {
  QString text = QStringLiteral(
      "<?xml version=\"1.0\"?>\n<!DOCTYPE fontconfig SYSTEM \"urn:fontconfig:fonts.dtd\">\n<fontconfig>\n");
  for (const PinnedFont& font : pinnedFonts()) text += QStringLiteral("  <dir>%1</dir>\n").arg(font.folder);
  text += QStringLiteral("  <cachedir>%1</cachedir>\n").arg(cache.toHtmlEscaped());
  return text + fontRules("pattern") + fontRules("font") + QStringLiteral("</fontconfig>\n");
}

}  // namespace

const std::vector<PinnedFont>& pinnedFonts() {
  static const std::vector<PinnedFont> fonts = [] {
    const auto font = [](const char* family, const char* package, const char* folder) {
      return PinnedFont{.family = QString::fromLatin1(family),
                        .package = QString::fromLatin1(package),
                        .folder = QStringLiteral("/usr/share/fonts/") + QLatin1String(folder)};
    };
    return std::vector{font("Inter", "fonts-inter", "opentype/inter"),
                       font("JetBrains Mono", "fonts-jetbrains-mono", "truetype/jetbrains-mono"),
                       font("DejaVu Sans", "fonts-dejavu-core", "truetype/dejavu")};
  }();
  return fonts;
}

PinnedPlatform::PinnedPlatform() {
  const QString configuration = m_folder.filePath(QStringLiteral("fonts.conf"));
  QFile file(configuration);
  if (file.open(QIODevice::WriteOnly))
    file.write(fontConfiguration(m_folder.filePath(QStringLiteral("cache"))).toUtf8());
  qputenv("FONTCONFIG_FILE", QFile::encodeName(configuration));
  qputenv("QT_QPA_PLATFORM", "offscreen");
  qputenv("QT_ENABLE_HIGHDPI_SCALING", "0");
  qputenv("QT_SCALE_FACTOR", "1");
  qputenv("QT_FONT_DPI", "96");
  qputenv("TZ", "UTC");
  for (const char* name : {"QT_STYLE_OVERRIDE", "QT_QPA_PLATFORMTHEME", "QT_SCREEN_SCALE_FACTORS",
                           "QT_USE_PHYSICAL_DPI", "FONTCONFIG_PATH", "XDG_CURRENT_DESKTOP"}) {
    qunsetenv(name);
  }
}

void pinApplication() {
  QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
  QApplication::setStyle(new StillStyle);  // the application owns it
  QApplication::setCursorFlashTime(0);
}

QString missingFonts() {
  QStringList missing;
  for (const PinnedFont& font : pinnedFonts()) {
    if (!QFontDatabase::hasFamily(font.family))
      missing += QStringLiteral("%1 (package %2)").arg(font.family, font.package);
  }
  return missing.join(QStringLiteral(", "));
}

}  // namespace spanscope::test
