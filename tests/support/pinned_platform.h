// SPDX-License-Identifier: GPL-3.0-or-later
// Makes painting depend on nothing of the machine except its versions of Qt, FreeType and the pinned fonts.
#pragma once

#include <QString>
#include <QTemporaryDir>

#include <vector>

namespace spanscope::test {

struct PinnedFont {
  QString family;
  QString package;  ///< Debian package, as named in packaging/dependencies.txt
  QString folder;   ///< folder into which that package installs the font
};

/// The theme's fonts and their fallbacks. A pinned program has no others.
const std::vector<PinnedFont>& pinnedFonts();

/// Sets the offscreen platform at scale 1 and 96 dpi, the pinned fonts without hinting and subpixels, and
/// UTC, with any settings of the user's desktop. Make it before the application object; it must outlive that
/// object.
class PinnedPlatform {
 public:
  PinnedPlatform();

 private:
  QTemporaryDir m_folder;  ///< configuration and cache of fontconfig
};

/// Sets up the application object: style Fusion, nothing moves or blinks, English.
void pinApplication();

/// The missing fonts and their packages; empty: all are there. Without them pictures cannot be compared.
QString missingFonts();

}  // namespace spanscope::test
