// SPDX-License-Identifier: Apache-2.0
// Texts for the misuse that clients, launches and runs count.

#include <warden/error.hpp>

#include <string>
#include <utility>

WARDEN_HOST_NAMESPACE_BEGIN

void add_misuse(error_list& found, misuse_counts const& report, std::size_t size,
                unsigned calls_per_thread, std::uint64_t never_run,
                std::optional<diagnosis> const& failure) {
  auto const add = [&](std::uint64_t count, std::string text) {
    found.add(error_type::limit, std::move(text), count);
  };
  std::string const cause = std::string{" had failed: it waited for "} +
                            to_string(static_cast<wait_kind>(report.skip_cause));
  std::uint64_t const other_losses =
      report.apart + report.unflushed + report.unflushed_calls + report.calls_too_many +
      report.sends_too_many + report.refused + report.wrong_block_lost + report.not_whole +
      report.given_up + report.runs_put_off + report.partner_at_work + report.runs_skipped +
      report.partner_failed + report.launches_skipped + report.accesses_too_many +
      report.accesses_unnamed + report.rows_absent + report.rows_refused + report.rows_too_many +
      never_run;
  if (report.bad_ids != 0) {
    add(report.bad_ids,
        "send: record id " + std::to_string(report.first_bad_id) + " is not below " +
            std::to_string(size) + " (" + std::to_string(report.bad_ids) +
            (report.bad_ids == 1 ? " such id" : " such ids") +
            (report.bad_rows_from != 0
                 ? ", in rows from " + std::to_string(~report.bad_rows_from) + " on"
                 : "") +
            (other_losses == 0 && !failure ? "; the other sections were executed)" : ")") +
            ": correct the ids");
  }
  if (report.apart != 0) {
    auto const first = static_cast<std::uint32_t>(report.first_apart >> 32);
    auto const second = static_cast<std::uint32_t>(report.first_apart);
    add(report.apart, "send: records " + std::to_string(first) + " and " + std::to_string(second) +
                          " have different owners (" + std::to_string(report.apart) +
                          " such pairs): choose an owner map, a chunk or a number of servers that "
                          "puts them together");
  }
  if (report.unflushed != 0) {
    add(report.unflushed, std::to_string(report.unflushed) +
                              " messages were staged but never flushed: call flush() before a "
                              "block_client goes out of scope");
  }
  if (report.unflushed_calls != 0) {
    add(report.unflushed_calls,
        std::to_string(report.unflushed_calls) +
            " calls were staged but never flushed: no thread waits for their answers any more");
  }
  if (report.calls_too_many != 0) {
    add(report.calls_too_many,
        std::to_string(report.calls_too_many) + " calls were not sent: the call " +
            std::to_string(calls_per_thread) +
            " calls before (calls_per_thread) was still staged, or its future still held");
  }
  if (report.early_gets != 0) {
    add(report.early_gets,
        std::to_string(report.early_gets) +
            " answers were asked for before flush(): until then their calls are staged");
  }
  if (report.sends_too_many != 0) {
    add(report.sends_too_many, std::to_string(report.sends_too_many) +
                                   " sections were not sent by a section: beyond what its type "
                                   "says as `sends_sections`, which is 1 unless it says otherwise");
  }
  if (report.refused != 0) {
    add(report.refused,
        std::to_string(report.refused) + " deferred sections were refused: their log holds " +
            std::to_string(report.refused_by) +
            ", and takes none while it is run; all that it accepted run" +
            (report.batches_at_most == 0
                 ? ""
                 : " (its blocks flushed more than " + std::to_string(report.batches_at_most) +
                       " batches: flush fuller ones, or say more in the log's options)"));
  }
  if (report.wrong_block_lost != 0) {
    auto const part = [&](int first_bit) {
      return std::to_string(report.wrong_block >> first_bit & 0xffff);
    };
    add(report.wrong_block_lost, "deferred_block: " + std::to_string(report.wrong_block_lost) +
                                     " sections were lost, which blocks of " + part(0) + " x " +
                                     part(16) + " x " + part(32) +
                                     " threads sent by a deferred_block<" + part(48) +
                                     ">; launch blocks of " + part(48) + " threads");
  }
  if (report.order_unknown != 0) {
    add(report.order_unknown, "run: " + std::to_string(report.order_unknown) +
                                  " batches came from blocks of one number in several launches "
                                  "that were given one ref: their order is not defined; give each "
                                  "launch a ref() of its own, and each block one client");
  }
  if (report.not_whole != 0) {
    add(report.not_whole, "run: " + std::to_string(report.not_whole) +
                              " sections were lost, because a kernel was still sending them: order "
                              "it before the run");
  }
  if (report.given_up != 0) {
    add(report.given_up,
        "run: a run threw an error after it had begun, and its log was emptied: up to " +
            std::to_string(report.given_up) + " messages did not run; make their records anew");
  }
  if (report.runs_put_off != 0) {
    add(report.runs_put_off,
        "run: " + std::to_string(report.runs_put_off) +
            " runs of logs found the guarded array in another run or launch, and "
            "ran nothing: order them by a stream or an event, and run again");
  }
  if (report.partner_at_work != 0) {
    add(report.partner_at_work,
        "run: " + std::to_string(report.partner_at_work) +
            " runs of logs between this guarded array and another one found the other one in "
            "another run "
            "or launch, and ran nothing: order them by a stream or an event, and run again");
  }
  if (report.launches_amid != 0) {
    add(report.launches_amid,
        "launch_fused: " + std::to_string(report.launches_amid) +
            " launches began while a log of the guarded array was run: order them "
            "by a stream or an event; sections may have met at a record");
  }
  if (never_run != 0) {
    add(never_run,
        std::to_string(never_run) +
            " deferred sections were never run: their log was destroyed without a run after them");
  }
  // A launch that another guarded array kept from running is the failure of this one.
  if (report.launches_skipped != 0 && !(failure && failure->wait.kind == wait_kind::earlier)) {
    add(report.launches_skipped,
        "launch_fused: " + std::to_string(report.launches_skipped) +
            " launches did not run, because an earlier launch or run of the guarded array" + cause +
            "; launch again");
  }
  if (report.runs_skipped != 0) {
    add(report.runs_skipped,
        "run: " + std::to_string(report.runs_skipped) +
            " runs of logs did not run, because an earlier launch or run of the guarded array" +
            cause + "; what the logs hold is still there: run again; call apply_async again");
  }
  if (report.partner_failed != 0) {
    add(report.partner_failed,
        "run: " + std::to_string(report.partner_failed) +
            " runs of logs between this guarded array and another one did not run, because an "
            "earlier "
            "launch or run of the other one" +
            cause +
            "; what the logs hold is still there: call the other one's wait, and run again");
  }
  if (report.accesses_too_many != 0) {
    add(report.accesses_too_many, "access: " + std::to_string(report.accesses_too_many) +
                                      " sections named more than " +
                                      std::to_string(report.accesses_at_most) +
                                      " records, and did not run: make their access_list larger");
  }
  if (report.accesses_unnamed != 0) {
    add(report.accesses_unnamed,
        "records: " + std::to_string(report.accesses_unnamed) +
            " sections used a record that they had not named, or wrote one that they had named "
            "for reading; they changed nothing: name it in access()");
  }
  if (report.rows_absent != 0) {
    add(report.rows_absent,
        "access: " + std::to_string(report.rows_absent) +
            " ids are not below the rows in use, and their sections did not run: sections name "
            "rows that earlier runs have appended");
  }
  if (report.rows_refused != 0) {
    add(report.rows_refused, "append: " + std::to_string(report.rows_refused) +
                                 " sections did not run, because their rows do not fit: the "
                                 "guarded array has " +
                                 std::to_string(report.rows_at_most) + " places; make it larger");
  }
  if (report.rows_too_many != 0) {
    add(report.rows_too_many, "append: " + std::to_string(report.rows_too_many) +
                                  " sections did not run, because they append more than 8191 rows "
                                  "to an array: append fewer by each");
  }
  if (report.shared_asked != 0) {
    add(1, "virtual_block::shared: " + std::to_string(report.shared_asked >> 32) +
               " bytes asked for, but the kernel's shared_storage has " +
               std::to_string(report.shared_asked & 0xffffffffu));
  }
}

WARDEN_HOST_NAMESPACE_END
