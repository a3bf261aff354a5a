// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the settings of the document for its next run.
#pragma once

#include "ui/views/common/input_view.h"
#include "ui/views/settings/setting_field.h"

#include <memory>
#include <optional>
#include <vector>

class QComboBox;
class QLabel;

namespace spanscope::ui {

class SettingsRows;

class SettingsView : public InputView {
  Q_OBJECT
 public:
  explicit SettingsView(QWidget* parent = nullptr);
  ~SettingsView() override;

  QSize sizeHint() const override { return {360, 560}; }

 protected:
  void refresh() override;

 private:
  /// A setting with its field, label and hint.
  struct Row {
    SettingField field;
    QLabel* label = nullptr;  ///< nullptr: the field has its own text
    QLabel* hint = nullptr;   ///< nullptr: there is no hint
  };

  /// All values on which the rows depend.
  struct Shown {
    workbench::RunSettings settings;
    ModelsKnown models;
    std::shared_ptr<const std::vector<compute::Device>> devices;
    bool isRetrieving = false;
    bool hasModel = false;
    Theme theme;
    bool operator==(const Shown&) const = default;
  };

  void makeGroup(workbench::SettingGroup group);
  void makeRow(const workbench::Setting& setting);
  SettingField makeModels(const workbench::Setting& setting);
  SettingField makeDevices(const workbench::Setting& setting);
  void showModels();
  void showDevices();
  void chooseModel(int index);
  void showRow(const Row& row, bool isRetrieving);

  std::unique_ptr<SettingsRows> m_rows;
  std::vector<Row> m_settings;
  /// The shown values. Every typed key makes a new input, but few inputs change a row.
  std::optional<Shown> m_shown;
  QComboBox* m_model = nullptr;
  QComboBox* m_device = nullptr;
  QLabel* m_unused = nullptr;  ///< note that the query has no retrieval
};

}  // namespace spanscope::ui
