// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/counted.h"
#include "engine/base/translation.h"
#include "engine/experiment/load_times.h"
#include "engine/experiment/studies/study.h"

#include <algorithm>
#include <array>

namespace spanscope::experiment {
namespace {

constexpr double kMebibyte = 1 << 20;

constexpr std::array kFields = {
    ExperimentField{"tokens", forTranslation("Experiments", "Tokens per document"),
                    forTranslation("Experiments", "Generated documents, from short to long"), "128,512,2048",
                    FieldKind::Numbers, 2, 1'000'000},
    ExperimentField{"folder", forTranslation("Experiments", "Folder for blocks"),
                    forTranslation("Experiments",
                                   "A folder on the disk to measure. The files are removed afterwards. "
                                   "Empty: the folder of the span store"),
                    "", FieldKind::Folder}};
constexpr std::array kMeasures = {
    Measure{"ms", forTranslation("Experiments", "time until the document is ready"), "ms", 2, true},
    Measure{"factor", forTranslation("Experiments", "times as fast as computing"), "", 1, true},
    Measure{"loaded_mib", forTranslation("Experiments", "loaded"), "MiB", 2},
    Measure{"loading_ms", forTranslation("Experiments", "loading alone"), "ms", 2}};

void measure(ExperimentResult& result, const ExperimentModel& model, const ExperimentProgress& report,
             const std::stop_token& stop) {
  const std::filesystem::path place = scratchPlace(textOf(result.request, "folder"), model.scratch);
  std::vector<std::int32_t> lengths = numbersOf(result.request, "tokens");
  const std::int64_t room = model.decoder.config().maxPositions;
  const std::size_t asked = lengths.size();
  std::erase_if(lengths, [room](std::int32_t tokens) { return tokens > room; });
  result.total = lengths.size();
  Study study(result, model, report, stop);
  study.remarkLeftOut(asked - lengths.size(), room);
  study.remark(
      "On disk: the file is in the system's page cache. Cold disk: Spanscope asked the system to drop the "
      "file from its page cache. The last token of a document is always computed.");
  for (const std::int32_t tokens : lengths) {
    study.begin(counted(tokens, "token"));
    LoadOptions options{.tokens = tokens,
                        .repeats = result.request.repeats,
                        .seed = result.request.seed,
                        .folder = {},
                        .seam = model.seam};
    if (study.counts()) {
      study.count(loadAmount(options));
      study.step();
      continue;
    }
    const ScratchFolder folder(place);
    options.folder = folder.path();
    const LoadTimes times =
        measureLoadTimes(model.open, model.session, model.decoder.config().vocabularySize, options, stop);
    const auto add = [&](const char* line, const LoadCase& one) {
      for (std::size_t i = 0; i < one.seconds.samples.size(); ++i) {
        const double seconds = one.seconds.samples[i];
        study.add(line, tokens,
                  {seconds * kMilliseconds, times.computed.seconds.median / std::max(seconds, 1e-9),
                   static_cast<double>(one.bytes) / kMebibyte, one.loading.samples[i] * kMilliseconds});
      }
    };
    add("computed", times.computed);
    add("host", times.host);
    add("disk", times.disk);
    add("cold disk", times.coldDisk);
    study.step();
  }
}

}  // namespace

const Experiment kLoadStudy{
    .name = "load",
    .title = forTranslation("Experiments", "Loading compared with computing"),
    .brief = forTranslation("Experiments",
                            "Does it save time to store blocks? The experiment measures the time until the "
                            "logits after a document are ready. The keys and values are computed, or loaded "
                            "from host memory, disk or cold disk."),
    .xName = forTranslation("Experiments", "tokens per document"),
    .isXLogarithmic = true,
    .fields = kFields,
    .measures = kMeasures,
    .repeats = 5,
    .measure = measure};

}  // namespace spanscope::experiment
