// SPDX-License-Identifier: GPL-3.0-or-later
// The pages of the manual: Markdown files, in the order in which the first of them lists the others.
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
  QString path;       ///< "docks/pool.md": below the folder of the manual
  QString title;      ///< as the list names it
  QString section;    ///< heading of the list that it stands in; empty: above the first one
  QStringList lines;  ///< its Markdown
};

/// Reads `index.md` in `folder` and every page that it links to, each once, in that order, itself first.
/// Links to files that cannot be read are left out; empty where there is no index.
std::vector<ManualPage> readManual(const QString& folder);

std::optional<std::size_t> findManualPage(const std::vector<ManualPage>& pages, const QString& path);

/// The page about a dock, by the dock's id: "docks/pool.md".
QString manualPageOfDock(const QString& dockId);

/// The name by which links mean a heading: "TTFT and ITL" → "ttft-and-itl".
QString headingAnchor(const QString& heading);

/// Where a link in `page` leads: "docks/pool.md" from "../docks/pool.md" in "numbers/x.md".
QString resolvedManualPath(const QString& page, const QString& link);

}  // namespace spanscope::ui
