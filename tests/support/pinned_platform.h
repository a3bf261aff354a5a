// SPDX-License-Identifier: GPL-3.0-or-later
// Makes what is painted depend on nothing of the machine but its versions of Qt, FreeType and the pinned
// fonts.
#pragma once

#include <QString>
#include <QTemporaryDir>

#include <vector>

namespace spanscope::test {

struct PinnedFont {
  QString family;
  QString package;  ///< of Debian, as packaging/dependencies.txt has it
  QString folder;   ///< where that package puts it
};

/// The theme's fonts and those behind them; there are no others in a pinned program.
const std::vector<PinnedFont>& pinnedFonts();

/// Made before the application object, and outlives it: the offscreen platform at scale 1 and 96 dpi, the
/// pinned fonts without hinting and subpixels, whatever the person's desktop says; UTC.
class PinnedPlatform {
 public:
  PinnedPlatform();

 private:
  QTemporaryDir m_folder;  ///< configuration and cache of fontconfig
};

/// For the application object: Fusion, nothing that moves or blinks, English.
void pinApplication();

/// Which fonts are not there, and their packages; empty: all are. Pictures cannot be compared without them.
QString missingFonts();

}  // namespace spanscope::test
