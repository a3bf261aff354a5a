// SPDX-License-Identifier: GPL-3.0-or-later
// The field of one setting, made from what is said of it.
#pragma once

#include "engine/workbench/settings.h"
#include "ui/theme/theme.h"

#include <QString>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

class QWidget;

namespace spanscope::ui {

class SettingsRows;

struct SettingField {
  const workbench::Setting* setting = nullptr;
  QWidget* widget = nullptr;  ///< owned by the owner of the rows
  std::function<void(const workbench::RunSettings&, const Theme&)> show;
};

/// A spin box for a number, a combo box for names, a check box for a flag, a line for a text, a seed or a
/// list. What the person does there changes the document through `rows`, which live as long as the field.
SettingField makeSettingField(const workbench::Setting& setting, SettingsRows& rows);

/// "all", or the layers separated by commas.
QString layersText(const std::vector<std::int32_t>& layers);
/// The layers of such a text; nothing where it is none.
std::optional<std::vector<std::int32_t>> readLayers(const QString& text);

}  // namespace spanscope::ui
