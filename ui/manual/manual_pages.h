// SPDX-License-Identifier: GPL-3.0-or-later
// The pages of the manual: Markdown files, in the order in which the index page lists them.
#pragma once

#include <QString>
#include <QStringList>

#include <cstddef>
#include <optional>
#include <vector>

namespace spanscope::ui {

/// The page that lists all others.
inline constexpr const char* kManualIndex = "index.md";

struct ManualPage {
  QString path;       ///< path below the folder of the manual: "docks/pool.md"
  QString title;      ///< as the index names it
  QString section;    ///< heading in the index under which it stands; empty: above the first heading
  QStringList lines;  ///< lines of its Markdown
};

/// Reads `index.md` in `folder`, then every page to which it links, each once and in that order. Leaves out
/// links to files that cannot be read. Empty if there is no index.
std::vector<ManualPage> readManual(const QString& folder);

std::optional<std::size_t> findManualPage(const std::vector<ManualPage>& pages, const QString& path);

/// The path of the page about a dock: "docks/pool.md".
QString manualPageOfDock(const QString& dockId);

/// The name of a heading in links: "TTFT and ITL" → "ttft-and-itl".
QString headingAnchor(const QString& heading);

/// The path to which a link in `page` leads: "docks/pool.md" for "../docks/pool.md" in "numbers/x.md".
QString resolvedManualPath(const QString& page, const QString& link);

}  // namespace spanscope::ui
