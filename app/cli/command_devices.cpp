// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/bench_report.h"
#include "app/cli/command.h"
#include "app/cli/terminal_output.h"
#include "engine/compute/backends.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>
#include <ostream>

namespace spanscope::cli {
namespace {

ExitCode showDevices(const Context& context, bool isJson) {
  constexpr double kGibi = 1 << 30;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  TextTable table({{"device", TextTable::Align::Left},
                   {"description", TextTable::Align::Left},
                   {"memory"},
                   {"usable", TextTable::Align::Left}});
  for (const compute::Device& device : context.backends.devices()) {
    nlohmann::ordered_json json{{"device", device.name}, {"is_usable", device.isUsable()}};
    if (!device.description.empty()) json["description"] = device.description;
    if (device.memoryBytes > 0) json["memory_bytes"] = device.memoryBytes;
    if (!device.isUsable()) json["obstacle"] = device.reason;
    list.push_back(std::move(json));
    table.addRow(
        {device.name, device.description.empty() ? "–" : device.description,
         device.memoryBytes == 0 ? "–" : fixed(static_cast<double>(device.memoryBytes) / kGibi, 1) + " GiB",
         device.isUsable() ? "yes" : "no: " + device.reason});
  }
  if (isJson) {
    nlohmann::ordered_json json;
    json["devices"] = std::move(list);
    context.streams.out << jsonText(json) << '\n';
  } else {
    context.streams.out << table.text();
  }
  return ExitCode::Fine;
}

}  // namespace

void addDevices(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("devices", "List the devices, and why a device cannot be used");
  command->footer("Example:\n  spanq devices\n");
  const auto isJson = std::make_shared<bool>(false);
  command->add_flag("--json", *isJson, "Write JSON");
  command->callback(
      [&context, isJson] { context.action = [&context, isJson] { return showDevices(context, *isJson); }; });
}

}  // namespace spanscope::cli
